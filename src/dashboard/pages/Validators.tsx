import type { ViewProps } from '../app.tsx'
import { NotFound } from './NotFound.tsx'
import { Declare } from './validators/Declare.tsx'
import { ValidatorDetail } from './validators/Detail.tsx'
import { ValidatorList } from './validators/List.tsx'
import { parseAddress } from '../../values/address.ts'

/** All validators and candidates, or the one whose owner's address stands in the path. */
export function Validators({ path }: ViewProps) {
  const [first, ...rest] = path
  if (first === undefined) return <ValidatorList />
  if (first === 'declare' && rest.length === 0) return <Declare />
  const owner = parseAddress(first)
  return owner === undefined || rest.length > 0 ? <NotFound /> : <ValidatorDetail owner={owner} />
}
