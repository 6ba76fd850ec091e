import { type CommonFlags, type Configure, example, homeFrom, nodeOption, nodeUrl, withCommon } from '../command.ts'
import { Failed } from '../failed.ts'
import { answer, clean, say, styled, table } from '../output.ts'

/** `svcd doctor`. */
export const configure: Configure = (command) => {
  withCommon(example(command, 'svcd doctor'))
    .addOption(nodeOption())
    .action(async (flags: CommonFlags & { readonly node?: string }) => {
      const { examine } = await import('../doctor/examine.ts')
      const findings = await examine(homeFrom(flags), nodeUrl(flags))
      const bad = findings.filter(({ verdict }) => verdict === 'bad').length
      if (bad > 0 && flags.json === true) throw new Failed(`${bad} checks failed`, findings)
      const colour = { ok: 'green', note: 'yellow', bad: 'red' } as const
      const rows = findings.map(({ verdict, check, found }) => [verdict, check, clean(found)])
      answer(flags.json, findings, () =>
        table(['', 'check', 'found'], rows).replace(/^(?:ok|note|bad)(?= )/gm, (verdict) =>
          styled(colour[verdict as keyof typeof colour], verdict),
        ),
      )
      if (bad > 0) throw new Failed(`${bad} ${bad === 1 ? 'check' : 'checks'} failed`)
      if (flags.json !== true) say('nothing is wrong')
    })
}
