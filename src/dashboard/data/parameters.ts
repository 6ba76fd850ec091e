import { parseRatio } from '../../base/amount.ts'
import type { GetParamsHistoryResult } from '../../client/index.ts'
import { PARAMETERS, type Parameter } from '../../modules/params/definitions.ts'
import { formatCount, formatRatio, isWholeNumber, shorten } from '../format.ts'
import { svc } from './gateway.ts'
import { askProposals, type ProposalOf, useLatest, useProposalNews } from './proposals.ts'
import { useAnswer } from './useAnswer.ts'

export type Params = Readonly<Record<string, string | number>>

export type GivenValue = GetParamsHistoryResult['data'][number]

/** The parameters in the interface's order. */
export const parameters: readonly Parameter[] = [...PARAMETERS.values()]

export const parameterOf = (name: string): Parameter | undefined => PARAMETERS.get(name)

/** A value as people read it: numbers with commas. */
export const formatValue = (value: string | number): string =>
  isWholeNumber(String(value)) ? formatCount(BigInt(value)) : String(value)

/** A parameter's value with its unit, in plain text. */
export function valueText(name: string, value: string | number): string {
  const unit = parameterOf(name)?.unit ?? ''
  return unit === '' ? shorten(String(value)) : `${formatValue(value)} ${unit}`
}

/** A value exactly as it is signed; a part of a whole also in per cent. */
export function exactValue(name: string, value: string): string {
  const unit = parameterOf(name)?.unit ?? ''
  if (unit.startsWith('per cent')) return `${value} %`
  return unit.startsWith('of ') && parseRatio(value) !== undefined
    ? `${value} (${formatRatio(value)})`
    : formatValue(value)
}

/** The values that a proposal may give a parameter, in words. */
export const rangeOf = ({ type, proposedType = type }: Parameter): string =>
  proposedType.exactForm.replace(/\d{4,}/g, (digits) => formatCount(BigInt(digits)))

/** Every value that a parameter was given, the newest first; asked for again when a proposal was heard of. */
export function useParamsHistory() {
  const heard = Math.max(0, ...useProposalNews().values())
  return useLatest(useAnswer(`paramsHistory@${heard}`, () => svc.async.governance.getParamsHistory(), 'onReturn'))
}

/** The approved changes of one parameter, the newest first. */
export async function askChangesOf(name: string): Promise<readonly ProposalOf<'change_param'>[]> {
  const approved = await askProposals({ state: 'Approved', type: 'change_param' })
  return approved.filter((one) => one.Type === 'change_param').filter(({ Detail }) => Detail.name === name)
}
