/** Writes the skeleton of a kind of proposal: `npm run new:proposal raiseLimit` is `npm run new:tx governance proposeRaiseLimit`. */
import { runNewTx } from './new-tx.ts'
import { upper } from './names.ts'

const [name = ''] = process.argv.slice(2)
// Alone, `propose` would be the name of an operation.
runNewTx('governance', name && `propose${upper(name)}`, 'npm run new:proposal <name>, as in raiseLimit')
