import { table } from '../../store/table.ts'

/** One table. */
export const candidacies = table('candidacies', { tag: 2, key: {}, row: {} })

/** Another with its tag. */
export const unbondings = table('unbondings', { tag: 0x02, key: {}, row: {} }) // red: tagTwice
