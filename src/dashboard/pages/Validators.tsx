import type { ViewProps } from '../app.tsx'
import { NotFound } from './NotFound.tsx'
import { lazyView } from '../parts/lazyView.tsx'
import { ValidatorDetail } from './validators/Detail.tsx'
import { ValidatorList } from './validators/List.tsx'
import { parseAddress } from '../../values/address.ts'

const Declare = lazyView(async () => (await import('./validators/Declare.tsx')).Declare)

const forms = {
  stake: lazyView(async () => (await import('./validators/StakeForm.tsx')).StakeForm),
  'take-back': lazyView(async () => (await import('./validators/TakeBackForm.tsx')).TakeBackForm),
}

/** All validators and candidates, or the one whose owner's address stands in the path, and what one stakes with it. */
export function Validators({ path }: ViewProps) {
  const [first, ...rest] = path
  if (first === undefined) return <ValidatorList />
  if (first === 'declare' && rest.length === 0) return <Declare />
  const owner = parseAddress(first.toLowerCase())
  if (owner === undefined || rest.length > 1) return <NotFound />
  const [form] = rest
  if (form === undefined) return <ValidatorDetail owner={owner} />
  const Form = Object.hasOwn(forms, form) ? forms[form as keyof typeof forms] : undefined
  return Form === undefined ? <NotFound /> : <Form owner={owner} />
}
