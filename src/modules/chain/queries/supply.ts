import { amount } from '../../../values/number.ts'
import { record } from '../../../values/shape.ts'
import { defineQuery } from '../../query.ts'
import { getTotals, supplyOf } from '../keeper.ts'

/** The supply and what it is made of. */
export const querySupply = defineQuery({
  method: 'svc_getSupply',
  path: '/chain/supply',
  doc: 'The supply at the head in base units, and what it is made of: genesis_supply + minted - burned.',
  input: {},
  isFlat: true,
  result: record('Supply', { supply: amount, genesis_supply: amount, minted: amount, burned: amount }),
  run: ({ state }) => {
    const { genesisSupply, minted, burned } = getTotals(state)
    return { supply: supplyOf(state), genesis_supply: genesisSupply, minted, burned }
  },
})
