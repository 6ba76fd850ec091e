import { describe, test } from '@jest/globals'

test.skip('without a reason', () => {}) // red: skipReason

// skip: no such program on this system
test.skip('with a reason', () => {})

test.only('alone', () => {}) // red: skipReason, noFocusedTests

describe.only('alone too', () => {}) // red: skipReason, noFocusedTests

test.todo('later') // red: skipReason

xtest('by another name', () => {}) // red: skipReason

const conditional = process.platform === 'linux' ? test : test.skip // red: skipReason
// skip: only Linux has this file
const explained = process.platform === 'linux' ? test : test.skip

conditional('one', () => {})
explained('two', () => {})
