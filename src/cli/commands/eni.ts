import { printProposalId } from '../../values/pubKey.ts'
import { libPath, measure, stagedPath } from '../../eni/libraryFolder.ts'
import { libraryStatusOf, listProposals } from '../../modules/governance/keeper.ts'
import { deployLibEni } from '../../modules/governance/proposals/deployLibEni.ts'
import { readMd5 } from '../../values/library.ts'
import { needState } from '../../node/homes.ts'
import { readState } from '../../node/stateFile.ts'
import { type CommonFlags, commonOptions, type Configure, subcommand, withOptions } from '../options.ts'
import { printAnswer, note, formatTable } from '../output.ts'

/** The proposed libraries in a state. `sums`: the MD5 sums that a library's file may have. */
const listedIn = (path: string) =>
  readState(path, (state) => {
    const listed = []
    // Without the rows, of which each may take 14 kB: any number of proposals is kept for ever.
    for (const proposal of listProposals(state)) {
      if (proposal.type !== 'deploy_libeni') continue
      const { id, name, version, md5 } = proposal
      const { status } = deployLibEni.detail(proposal, libraryStatusOf(state, id))
      const sums = [...(readMd5(md5)?.values() ?? [])].map((sum) => sum.toLowerCase())
      listed.push({ id: printProposalId(id), name, version, status, sums })
    }
    return listed
  })

type Row = Omit<ReturnType<typeof listedIn>[number], 'id' | 'sums'> &
  Partial<Awaited<ReturnType<typeof measure>>> & { readonly where?: string }

async function list({ home, json }: CommonFlags): Promise<void> {
  const rows: Row[] = []
  for (const { id, name, version, status, sums } of listedIn(needState(home))) {
    const where = status === 'deployed' ? libPath(home, { name, version }) : stagedPath(home, id)
    const file = await measure(where)
    rows.push({ name, version, status, ...file, ...(file === undefined ? {} : { where }) })
    if (file !== undefined && !sums.includes(file.md5))
      note(`${where} is not the file that was approved; the next start downloads it again`)
    if (file === undefined && status === 'deployed') note(`${where} is missing; the next start downloads it again`)
  }
  const headings = ['name', 'version', 'status', 'bytes', 'md5', 'sha256', 'where'] as const
  printAnswer(json, rows, () =>
    formatTable(
      headings,
      rows.map((row) => headings.map((heading) => String(row[heading] ?? ''))),
    ),
  )
}

/** Configures `svcd eni`. */
export const configure: Configure = (eni) => {
  withOptions(eni, 'svcd eni list')
  const doc = 'Lists the libraries that were proposed, and the file that this node has of each.'
  subcommand(eni, 'list', doc, 'svcd eni list', commonOptions).action(list)
}
