import { readFileUrl, readMd5 } from '../../values/library.ts'
import { UserLink, UserText } from './text.tsx'

/** The files of a library by system, as a proposer wrote them; as texts where they are none. */
export function LibraryFiles({ fileUrl, md5 }: { readonly fileUrl: string; readonly md5: string }) {
  const [files, sums] = [readFileUrl(fileUrl), readMd5(md5)]
  if (files === undefined || sums === undefined) return <UserText text={`${fileUrl}\n${md5}`} isLong />
  return (
    <table class='library-files'>
      <thead>
        <tr>
          <th scope='col'>System</th>
          <th scope='col'>File and its MD5</th>
        </tr>
      </thead>
      <tbody>
        {[...files].map(([system, urls]) => (
          <tr key={system}>
            <th scope='row'>{system}</th>
            <td>
              <ul>
                {urls.map((url) => (
                  <li key={url}>
                    <UserLink url={url} />
                  </li>
                ))}
              </ul>
              <span class='mono'>{sums.get(system) ?? '–'}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
