import { expect, test } from '@jest/globals'
import { callerAddress } from '../../src/gateway/http/callerAddress.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:207', '192.0.2.7'],
  ['2001:db8:0:7:ABCD::1', '2001:db8:0:7::'],
  ['2001:db8::7:1:2:3:4', '2001:db8:0:7::'],
  ['::1', '::'],
  ['fe80::1%eth0', 'fe80::'],
  ['1:2:3:4:5:6:192.0.2.7', '1:2:3:4::'],
  ['', ''],
  ['Unix', 'unix'],
])('a caller at %j counts as %j', (ip, key) => {
  expect(callerAddress(ip)).toBe(key)
})
