/** The codes of SQLite and of the system for a full disk. SHMSIZE: the index of a log finds no room. */
const DISK_FULL = new Set<unknown>(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'])

/** True for an error of SQLite or of the system that means a full disk. */
export const isDiskFull = (error: unknown): boolean =>
  DISK_FULL.has((error as { code?: unknown } | null | undefined)?.code)
