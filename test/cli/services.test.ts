import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemdUnits, type UnitOptions, writeUnits } from '../../src/cli/services.ts'
import { GO_MAX_PROCS_LINE } from '../../src/comet/goMaxProcs.ts'
import { tempFolder } from '../support/tempFolder.ts'

const commands = {
  app: ['/usr/bin/node', '/opt/svcd/svcd.js', 'start'],
  cometbft: ['cometbft', 'node'],
  gateway: ['/usr/bin/node', '/opt/svcd/svcd.js', 'gateway'],
}
const unit = (part: 'app' | 'cometbft' | 'gateway', given: Partial<UnitOptions> = {}): readonly string[] => {
  const units = systemdUnits({
    home: '/var/lib/svcd',
    user: 'svcd',
    commands,
    programs: ['/opt/svcd/svcd.js'],
    ...given,
  })
  return (units[`svcd-${part}${given.isTemplate === true ? '@' : ''}.service`] ?? '').split('\n')
}

describe('the systemd units of a node', () => {
  test.each(['app', 'cometbft', 'gateway'] as const)(
    '%s runs as its user, sees no other home, leaves no core, and has bounds',
    (part) => {
      expect(unit(part)).toEqual(
        expect.arrayContaining([
          'User=svcd',
          'UMask=0077',
          'LimitCORE=0',
          `MemoryMax=${part === 'gateway' ? '1G' : '2G'}`,
          'NoNewPrivileges=yes',
          'CapabilityBoundingSet=',
          'PrivateTmp=yes',
          'ProtectSystem=strict',
          'ProtectHome=yes',
          'WorkingDirectory=/var/lib/svcd',
        ]),
      )
      const writable = unit(part).filter((line) => /^(?:ReadWritePaths|BindPaths)=/.test(line))
      expect(writable).toEqual(part === 'gateway' ? [] : ['ReadWritePaths=/var/lib/svcd'])
    },
  )

  test('CometBFT of a home starts with four threads on few cores, and nothing of the line is read by systemd', () => {
    const { path: home, remove } = tempFolder('two words')
    try {
      writeUnits(home, 'unix://abci.sock', { host: '127.0.0.1', port: 26657 }, true)
      const text = readFileSync(join(home, 'systemd', 'svcd-cometbft.service'), 'utf8')
      const [, quotedLine = '', rest] = /^ExecStart=\/bin\/sh -c "((?:[^"\\]|\\.)*)" (.*)$/m.exec(text) ?? []
      // systemd takes \" and $$ back before it hands the words over.
      const line = quotedLine.replaceAll('\\"', '"').replaceAll('$$', '$')
      expect([line, rest]).toEqual([`${GO_MAX_PROCS_LINE}; exec "$0" "$@"`, `cometbft node --home "${home}"`])
      expect(quotedLine.replaceAll('$$', '')).not.toContain('$')
    } finally {
      remove()
    }
  })

  test('the application starts once the network is there, which systemd does not wait for unless a unit wants it', () =>
    expect(unit('app')).toEqual(expect.arrayContaining(['Wants=network-online.target', 'After=network-online.target'])))

  test('CometBFT comes and goes with its application', () => {
    expect(unit('app')).toContain('Upholds=svcd-cometbft.service')
    const bound = ['BindsTo=svcd-app.service', 'JoinsNamespaceOf=svcd-app.service', 'TimeoutStopSec=10']
    expect(unit('cometbft')).toEqual(expect.arrayContaining(bound))
    expect(unit('cometbft', { isTemplate: true })).toContain('BindsTo=svcd-app@%i.service')
  })

  test('a home below /home is the one thing that is seen there; the gateway may only read it', () => {
    const given = { home: '/home/alice/.svcd' }
    expect(unit('app', given)).toEqual(expect.arrayContaining(['ProtectHome=tmpfs', 'BindPaths=/home/alice/.svcd']))
    expect(unit('gateway', given)).toEqual(
      expect.arrayContaining(['ProtectHome=tmpfs', 'BindReadOnlyPaths=/home/alice/.svcd']),
    )
  })

  test('programs below /home or /root can be read, and only the home is written', () => {
    const lines = unit('app', { home: '/home/alice/.svcd', programs: ['/root/svcd/src/cli/svcd.js'] })
    expect(lines).toEqual(expect.arrayContaining(['ProtectHome=read-only', 'ReadWritePaths=/home/alice/.svcd']))
    expect(lines.some((line) => line.startsWith('Bind'))).toBe(false)
  })

  test('a home below /tmp keeps the /tmp of the machine', () => {
    expect(unit('app', { home: '/tmp/net' })).not.toContain('PrivateTmp=yes')
  })

  test('of a network are one for all nodes, and paths of any name stand as systemd reads them', () => {
    const lines = unit('app', {
      home: '/srv/50% "net"',
      isTemplate: true,
      commands: { ...commands, app: ['./app.sh', 'a $b'] },
    })
    expect(lines).toEqual(
      expect.arrayContaining([
        'WorkingDirectory=/srv/50%% "net"/%i',
        'ExecStart="/srv/50%% \\"net\\"/%i/app.sh" "a $$b"',
        'ReadWritePaths="/srv/50%% \\"net\\"/%i"',
      ]),
    )
  })
})
