import type { ChildProcess } from 'node:child_process'

/** Sends SIGTERM to a process, and SIGKILL after `graceMs`. Resolves when it has `ended`. May be repeated. */
export async function stopChild(
  child: Pick<ChildProcess, 'kill'>,
  ended: Promise<unknown>,
  graceMs = 10_000,
): Promise<void> {
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  try {
    await ended
  } finally {
    clearTimeout(timer)
  }
}
