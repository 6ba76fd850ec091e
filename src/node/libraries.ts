import type { AppLogger } from '../app/context.ts'
import { parseProposalId, printProposalId, type ProposalId } from '../values/pubKey.ts'
import { BLOCK_TIME_MS_DEFAULT } from '../comet/config.ts'
import { parseAllowList } from '../eni/policy.ts'
import {
  type LibraryJob,
  type LibraryStatus,
  LIMITS,
  type Limits,
  type Report,
  startFetcherThread,
  type ThreadData,
} from '../eni/thread.ts'
import { listLibraries } from '../modules/governance/keeper.ts'
import { fileFor } from '../modules/governance/library.ts'
import { libraryStatus, type Proposal, type ProposalOf } from '../modules/governance/tables.ts'
import type { Change, Store } from '../store/index.ts'
import { UserError } from './errors.ts'
import { readConfig } from './settings.ts'

interface LibrariesOptions extends Omit<ThreadData, 'limits'> {
  readonly store: Store
  readonly os: string
  readonly logger: AppLogger
  readonly limits?: Limits
}

/** Connects the chain with the fetcher: jobs go to the fetcher, and its reports into the local status table. */
export type Libraries = ReturnType<typeof serveLibraries>

function goalOf({ result, pending }: Proposal): LibraryJob['goal'] {
  if (result === 'Rejected' || result === 'Expired') return 'drop'
  return result === 'Approved' && !pending ? 'deploy' : 'stage'
}

/** When a proposal is due, in ms of Unix time. A height is converted with the default block time. */
const dueMsOf = ({ expireBlockHeight, expireTimestamp }: Proposal, height: number): number =>
  expireBlockHeight === 0 ? expireTimestamp * 1000 : Date.now() + (expireBlockHeight - height) * BLOCK_TIME_MS_DEFAULT

function jobOf(proposal: ProposalOf<'deploy_libeni'>, os: string, height: number): LibraryJob {
  const { id, name, version } = proposal
  const file = fileFor(proposal, os) ?? { urls: [], md5: '' }
  return { id: printProposalId(id), name, version, ...file, goal: goalOf(proposal), dueMs: dueMsOf(proposal, height) }
}

const isLibrary = (row: object | undefined): row is ProposalOf<'deploy_libeni'> =>
  (row as Partial<Proposal> | undefined)?.type === 'deploy_libeni'

/**
 * Keeps the library folder and its status table in line with the chain's proposals. It begins with `listLibraries` of the
 * state. The fetcher's thread starts with the first library. Source: protocol.md §7, deploy_libeni.
 */
export function serveLibraries({ store, home, os, allowAddresses, logger, limits = LIMITS }: LibrariesOptions) {
  /** By proposal id. Those that were rejected are left out: their number has no bound. */
  const statuses = new Map<string, LibraryStatus>()
  let fetcher: ReturnType<typeof startFetcherThread> | undefined
  let isClosed = false
  let last = store.height()

  const writeStatus = (proposalId: ProposalId, status: LibraryStatus): void => {
    if (store.get(libraryStatus, { proposalId })?.status === status) return
    try {
      store.putLocal(libraryStatus, { proposalId, status })
    } catch (error) {
      logger.error(
        { err: error, proposal_id: printProposalId(proposalId) },
        'the status of a library could not be written; the next start writes it',
      )
    }
  }

  const onReport = (report: Report): void => {
    const { id, name, version } = report.library
    const about = { proposal_id: id, name, version }
    if (report.type === 'try')
      return logger.info({ ...about, url: report.url, why: report.why }, 'a try to download a library failed')
    const { status, why } = report
    if (status === 'rejected') statuses.delete(id)
    else statuses.set(id, status)
    writeStatus(parseProposalId(id) as ProposalId, status)
    logger.info({ event: 'svc.governance.lib_status', ...about, status, why }, `library ${name} ${version}: ${status}`)
  }

  const update = (jobs: readonly LibraryJob[]): void => {
    if (jobs.length === 0 || isClosed) return
    fetcher ??= startFetcherThread(
      { home, allowAddresses, limits },
      {
        onMessage: onReport,
        onFailed: (err) => logger.error({ err }, 'the fetcher of libraries ended; another one starts in a minute'),
        onRestarted: updateAll,
      },
    )
    fetcher.post(jobs)
  }

  function updateAll(): void {
    const found: (Pick<Proposal, 'blockHeight' | 'place'> & { readonly job: LibraryJob })[] = []
    // Only what a job needs of a row, which may take 14 kB.
    for (const proposal of listLibraries(store)) {
      const { blockHeight, place } = proposal
      found.push({ blockHeight, place, job: jobOf(proposal, os, last) })
    }
    found.sort((a, b) => a.blockHeight - b.blockHeight || a.place - b.place)
    update(found.map(({ job }) => job))
  }

  updateAll()
  return {
    /**
     * The `onCommitted` of AppOptions. It looks at each changed row, or begins as at a start when blocks were skipped
     * (state sync).
     */
    onCommitted: (height: number, changes: readonly Change[]): void => {
      const isNext = height === last + 1
      last = height
      if (!isNext) return updateAll()
      const changed = changes.filter(({ table }) => table.name === 'proposals')
      const proposals = changed.map(({ after }) => after).filter(isLibrary)
      update(proposals.map((proposal) => jobOf(proposal, os, last)))
    },
    /** Counts this node's libraries that have one of these statuses. */
    count: (...wanted: readonly LibraryStatus[]): number =>
      [...statuses.values()].filter((status) => wanted.includes(status)).length,
    close: async (): Promise<void> => {
      isClosed = true
      await fetcher?.close()
    },
  }
}

/**
 * The addresses and CIDR blocks that the fetcher may call although they are not public: the given ones, separated by
 * commas, else the configured ones. Throws a UserError that names a bad entry.
 */
export function allowedAddresses(home: string, given: string | undefined): readonly string[] {
  const entries: unknown =
    given === undefined ? (readConfig(home).eni?.allowAddresses ?? []) : given.split(',').map((entry) => entry.trim())
  const source = given === undefined ? 'config/svcd.json: eni.allowAddresses' : '--eni-allow'
  const isList = Array.isArray(entries) && entries.every((entry) => typeof entry === 'string')
  if (!isList) throw new UserError(`${source}: expected a list of strings, got ${JSON.stringify(entries)}`)
  try {
    parseAllowList(entries)
  } catch (error) {
    throw new UserError(`${source}: ${(error as Error).message}`)
  }
  return entries
}
