import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { consensusFailureIn, fatalErrorIn, rollbackFailureOf } from '../../src/comet/messages.ts'
import { homeFiles, lastConsensusFailure } from '../../src/comet/home.ts'
import { tempFolder } from '../support/tempFolder.ts'

const folder = tempFolder('comet')
afterAll(() => folder.remove())

// As CometBFT 0.38.25 wrote it on a full disk, in each of its formats.
const PLAIN =
  'E[2026-11-22|14:09:44.656] CONSENSUS FAILURE!!!                         module=consensus err="error writing batch to DB ' +
  '\\"failed to save block\\": (base 1, height 49): write /h/000001.log: no space left on device" stack="goroutine 57 [running]:\\n"'
const JSON_LINE =
  '{"_msg":"CONSENSUS FAILURE!!!","err":"write /h/wal: no space left on device","level":"error","module":"consensus"}'
const COMMITTED = 'I[2026-11-22|14:16:14.343] committed state                              module=state height=774'
const CAUSE =
  'error writing batch to DB "failed to save block": (base 1, height 49): write /h/000001.log: no space left on device'

test.each([
  [PLAIN, CAUSE],
  [JSON_LINE, 'write /h/wal: no space left on device'],
  ['E[…] CONSENSUS FAILURE!!!  module=consensus', 'no reason given'],
  [COMMITTED, undefined],
  ['', undefined],
])('a line of the log: %s', (line, cause) => {
  expect(consensusFailureIn(line)).toBe(cause)
})

// As CometBFT 0.38.25 ended with older blocks than the application's state, with none, and with newer ones alone.
const REPLAY = 'ERROR: failed to create node: error during handshake: error on replay: app block height'
test.each([
  [`${REPLAY} (171) is higher than core (92)`, /^.*\(92\)\. The state does not belong .* svcd reset and sync again$/],
  ['panic: state.AppHash does not match AppHash after replay. Got', /Got\. The state does not belong .* svcd reset/],
  [`${REPLAY} (0) is too far below block store base (346)`, /\(346\)\. CometBFT no longer has .* a newer snapshot, or/],
  ['ERROR: no room', /^ERROR: no room$/],
])('blocks that do not fit the state are told with the remedy: %s', (line, told) => {
  expect(fatalErrorIn(line)).toMatch(told)
})

test('the log of a home tells the last failure, and none once a block was committed since', () => {
  const { log } = homeFiles(folder.path)
  expect(lastConsensusFailure(folder.path)).toBeUndefined()
  mkdirSync(dirname(log))
  const lines = (...all: readonly string[]): string | undefined => {
    writeFileSync(log, `${all.join('\n')}\n`)
    return lastConsensusFailure(folder.path)
  }
  expect(lines(COMMITTED)).toBeUndefined()
  expect(lines(COMMITTED, PLAIN, 'I[…] Ensure peers')).toBe(CAUSE)
  expect(lines(PLAIN, COMMITTED)).toBeUndefined()
  expect(lines(PLAIN, 'x'.repeat(1024 * 1024))).toBeUndefined()
})

test.each([
  ['Error: failed to rollback state: no height', 'failed to rollback state: no height'],
  [
    'ERROR: While parsing config: toml: invalid character at start of key: [\n',
    'While parsing config: toml: invalid character at start of key: [',
  ],
  ['Usage:\n  cometbft rollback', undefined],
])('why a rollback failed: %j', (stderr, why) => {
  expect(rollbackFailureOf(stderr)).toBe(why)
})
