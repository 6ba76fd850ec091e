/**
 * Memory that each part of a node may take, as compose files and systemd units write it: what goes beyond is ended, not
 * the machine.
 */
export const MEMORY = { app: '2G', cometbft: '2G', gateway: '1G' } as const
