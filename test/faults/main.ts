/**
 * Faults of the process, of the disk and of the clock: `make faults`. `--count` is the number of kills at each place, 50
 * unless told otherwise; the other campaigns are as many times larger as their cases are smaller. 50 takes every damage
 * of the log and every call of the disk. `--only kills,cuts` chooses some of them, and `--json FILE` keeps their
 * reports. The disk's failures need strace and root, and say so.
 */
import { runCampaigns } from '../support/campaign.ts'
import { clock } from './clock.ts'
import { cuts } from './cuts.ts'
import { failingDisk, fullDisk, mountedDisk } from './disk.ts'
import { kills } from './kills.ts'

// What runs is ended at the exit of this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

await runCampaigns(
  {
    kills: (options) => kills(options),
    cuts: ({ count, seed }) => cuts({ count: count * 200, seed }),
    clock: ({ count, seed }) => clock({ count: Math.ceil(count / 2), seed }),
    fullDisk: (options) => fullDisk(options),
    failingDisk: ({ count }) => failingDisk({ count: count * 20 }),
    mountedDisk: (options) => mountedDisk(options),
  },
  50,
)
