import { useState } from 'preact/hooks'
import { isUrl, MD5, OS_NAMES, readFileUrl, readMd5, URLS_MAX } from '../../values/library.ts'
import type { Typing } from './check.ts'
import { CodeField } from './fields.tsx'
import type { CustomField } from './FormParts.ts'

/** The file of one OS as it is typed. */
interface File {
  readonly isGiven: boolean
  readonly urls: readonly string[]
  readonly md5: string
}

type Files = Readonly<Record<string, File>>

const EMPTY: File = { isGiven: false, urls: [''], md5: '' }

/** The two JSON texts of the operation, from what was typed for each OS. */
function textsOf(files: Files): Typing {
  const given = Object.entries(files).filter(([, { isGiven }]) => isGiven)
  if (given.length === 0) return { fileUrl: '', md5: '' }
  return {
    fileUrl: JSON.stringify(
      Object.fromEntries(given.map(([os, { urls }]) => [os, urls.map((url) => url.trim()).filter(Boolean)])),
    ),
    md5: JSON.stringify(Object.fromEntries(given.map(([os, { md5 }]) => [os, md5.trim()]))),
  }
}

/** What was typed for each OS, from the two texts. */
function filesOf({ fileUrl = '', md5 = '' }: Typing): Files {
  const read = (text: string): Readonly<Record<string, unknown>> => (text === '' ? {} : JSON.parse(text))
  const [urls, sums] = [read(fileUrl), read(md5)]
  return Object.fromEntries(
    OS_NAMES.map((os) => {
      const given = urls[os] as readonly string[] | undefined
      if (given === undefined) return [os, EMPTY]
      return [os, { isGiven: true, urls: given.length === 0 ? [''] : given, md5: String(sums[os] ?? '') }]
    }),
  )
}

/** What is wrong with the two texts by the chain's rules. Source: protocol.md §6, deploy_libeni. */
export function problemsOfFiles({ fileUrl = '', md5 = '' }: Typing): Readonly<Record<string, string>> {
  if (fileUrl === '') return { fileUrl: 'Choose at least one system.' }
  if (readFileUrl(fileUrl) === undefined) return { fileUrl: `Every system needs 1 to ${URLS_MAX} URLs.` }
  return readMd5(md5) === undefined ? { md5: 'Every system needs the MD5 of its file.' } : {}
}

const problemOfUrl = (url: string): string | undefined =>
  url === '' || isUrl(url.trim()) ? undefined : 'expected http:// or https:// and no spaces'

const problemOfSum = (md5: string): string | undefined =>
  md5 === '' || MD5.test(md5.trim()) ? undefined : `expected 32 hex digits, there are ${md5.trim().length} characters`

function FileFields({ os, file, onChange }: { os: string; file: File; onChange: (file: File) => void }) {
  const { urls, md5 } = file
  const setUrl = (at: number, url: string): void =>
    onChange({ ...file, urls: urls.map((one, index) => (index === at ? url : one)) })
  return (
    <>
      {urls.map((url, at) => (
        <div key={at} class='with-button'>
          <CodeField
            label={urls.length === 1 ? `URL for ${os}` : `URL ${at + 1} for ${os}`}
            value={url}
            onInput={(text) => setUrl(at, text)}
            error={problemOfUrl(url)}
          />
          {urls.length > 1 ? (
            <button
              type='button'
              class='quiet'
              onClick={() => onChange({ ...file, urls: urls.filter((_, index) => index !== at) })}
            >
              Remove<span class='visually-hidden'> URL {at + 1}</span>
            </button>
          ) : null}
        </div>
      ))}
      {urls.length < URLS_MAX ? (
        <button type='button' class='quiet' onClick={() => onChange({ ...file, urls: [...urls, ''] })}>
          Another URL of the same file
        </button>
      ) : null}
      <CodeField
        label={`MD5 for ${os}`}
        value={md5}
        onInput={(text) => onChange({ ...file, md5: text })}
        error={problemOfSum(md5)}
      />
    </>
  )
}

/** The files of a library, by OS: fileUrl and md5 are made from them. */
export function FilesField({ field }: { readonly field: CustomField }) {
  const [files, setFiles] = useState<Files>(() => filesOf(field.typing))
  const change = (os: string, file: File): void => {
    const next = { ...files, [os]: file }
    setFiles(next)
    field.change(textsOf(next), false)
  }
  return (
    <fieldset class='files'>
      <legend>Files</legend>
      {OS_NAMES.map((os) => {
        const file = files[os] ?? EMPTY
        return (
          <div key={os} class='file'>
            <label>
              <input
                type='checkbox'
                checked={file.isGiven}
                onChange={({ currentTarget: { checked } }) => change(os, { ...file, isGiven: checked })}
              />{' '}
              {os}
            </label>
            {file.isGiven ? <FileFields os={os} file={file} onChange={(next) => change(os, next)} /> : null}
          </div>
        )
      })}
      <p class='hint'>The node of this gateway takes no proposal without a file for the system that it runs on.</p>
      <p class='field-error' aria-live='polite'>
        {field.errors['fileUrl'] ?? field.errors['md5']}
      </p>
    </fieldset>
  )
}
