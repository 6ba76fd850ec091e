import { printProposalId } from '../../base/pubKey.ts'
import { libPath, type Measure, measure, stagedPath } from '../../eni/libraryFolder.ts'
import { listProposals } from '../../modules/governance/keeper.ts'
import { printProposal } from '../../modules/governance/queries.ts'
import { tables } from '../../modules/registry.ts'
import { openSqliteReader } from '../../store/sqlite/sqliteReader.ts'
import { needState } from '../homes.ts'
import { type CommonFlags, type Configure, example, homeFrom, withCommon } from '../options.ts'
import { answer, note, table } from '../output.ts'

/** A proposed library as the state has it. `sums`: the md5 that its file may have, by OS. */
interface Listed {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly status: string
  readonly sums: string
}

type Row = Omit<Listed, 'id' | 'sums'> & Partial<Measure> & { readonly where?: string }

async function readState(path: string): Promise<readonly Listed[]> {
  const reader = openSqliteReader({ path, tables })
  try {
    return reader.read((state) =>
      [...listProposals(state)]
        .filter((proposal) => proposal.type === 'deploy_libeni')
        .map((proposal) => {
          const { id, name, version, md5 } = proposal
          const { status } = printProposal(state, proposal)['Detail'] as { status: string }
          return { id: printProposalId(id), name, version, status, sums: md5.toLowerCase() }
        }),
    )
  } finally {
    reader.close()
  }
}

async function list(flags: CommonFlags): Promise<void> {
  const home = homeFrom(flags)
  const rows: Row[] = []
  for (const { id, name, version, status, sums } of await readState(needState(home))) {
    const where = status === 'deployed' ? libPath(home, { name, version }) : stagedPath(home, id)
    const file = await measure(where)
    rows.push({ name, version, status, ...file, ...(file === undefined ? {} : { where }) })
    if (file !== undefined && !sums.includes(file.md5))
      note(`${where}: not the file that was approved; the next start fetches it anew`)
    if (file === undefined && status === 'deployed') note(`${where}: it is gone; the next start fetches it anew`)
  }
  const headings = ['name', 'version', 'status', 'bytes', 'md5', 'sha256', 'where'] as const
  answer(flags.json, rows, () =>
    table(
      headings,
      rows.map((row) => headings.map((heading) => String(row[heading] ?? ''))),
    ),
  )
}

/** `svcd eni …`. */
export const configure: Configure = (eni) => {
  example(eni, 'svcd eni list')
  withCommon(
    example(
      eni.command('list').description('Libraries that were proposed, and what this node holds of each.'),
      'svcd eni list',
    ),
  ).action(list)
}
