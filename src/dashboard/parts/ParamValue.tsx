import { formatValue, parameterOf } from '../data/parameters.ts'
import { shorten } from '../format.ts'

/** The value of a parameter with its unit; an address in short. */
export function ParamValue({ name, value }: { readonly name: string; readonly value: string | number }) {
  const unit = parameterOf(name)?.unit ?? ''
  return unit === '' ? (
    <span class='mono' title={String(value)}>
      {shorten(String(value), 10, 8)}
    </span>
  ) : (
    <>
      <span class='number'>{formatValue(value)}</span>
      <span class='unit'> {unit}</span>
    </>
  )
}
