/**
 * Deploys one library after another until it is killed: `node renameChild.ts <home>`; says the number of each that is
 * in place.
 */
import { writeFileSync } from 'node:fs'
import { install, partPath, pointCurrent, prepare, stage } from '../../src/eni/libraryFolder.ts'
import { fileBytes } from './support.ts'

const [home = ''] = process.argv.slice(2)
await prepare(home, [])
for (let number = 1; ; number++) {
  const id = Buffer.alloc(32, number).toString('base64')
  const file = { name: 'lib', version: `v1.0.${number}` }
  writeFileSync(partPath(home, id), fileBytes(number, 300_000))
  await stage(home, id)
  await install(home, id, file)
  await pointCurrent(home, file)
  process.stdout.write(`${number}\n`)
}
