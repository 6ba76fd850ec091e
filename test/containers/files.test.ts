import { afterAll, describe, expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { writeTestnet, planNodes } from '../../src/cli/commands/testnet.ts'
import { composeFile, MEMORY } from '../../src/cli/services.ts'
import { COMETBFT_VERSION } from '../../src/comet/find.ts'
import { GO_MAX_PROCS_LINE } from '../../src/comet/goMaxProcs.ts'
import { commandsIn, optionsOf, type Service, servicesIn } from './composeFile.ts'
import { findEngine, root } from './engine.ts'
import { main } from './run.ts'
import { TESTNET_SERVICES } from './testnet.ts'
import { tempFolder } from '../support/tempFolder.ts'

const read = (name: string): string => readFileSync(join(root, name), 'utf8')
const FILES = ['docker-compose.yml', 'docker-compose.testnet.yml']

/** The anchor that every service takes its settings from has these. */
function assertConfined(compose: string): void {
  const [, anchor = ''] = /^x-svcd: &svcd\n((?: {2}.*\n)+)/m.exec(compose) ?? []
  expect(anchor.split('\n').map((line) => line.trim())).toEqual(
    expect.arrayContaining([
      'read_only: true',
      'tmpfs: [/tmp]',
      'cap_drop: [ALL]',
      "security_opt: ['no-new-privileges:true']",
      'pids_limit: 512',
      `mem_limit: ${MEMORY.app}`,
    ]),
  )
  expect(compose).not.toMatch(/privileged:|cap_add:|read_only: false/)
}

describe('the files of the containers', () => {
  test('the image has the CometBFT that everything else is tested with', () => {
    expect(/^ARG COMETBFT_VERSION=(.+)$/m.exec(read('Dockerfile'))?.[1]).toBe(COMETBFT_VERSION)
  })

  test('its cometbft sets GOMAXPROCS as svcd does', () => {
    expect(read('Dockerfile')).toContain(
      `RUN printf '%s\\n' '#!/bin/sh' '${GO_MAX_PROCS_LINE}' \\\n  'exec /usr/local/lib/cometbft "$@"' >/usr/local/bin/cometbft`,
    )
  })

  test.each(FILES)('%s hands the GOMAXPROCS of the host to every CometBFT', (file) => {
    const ofHost = read(file).match(/GOMAXPROCS: '\$\{GOMAXPROCS:-\}'/g)
    expect(ofHost).toHaveLength(file === 'docker-compose.yml' ? 1 : 5)
  })

  // Without a value a variable is that of the shell or .env, and unset where neither has it.
  test('every application gets the accepted program version from the shell or .env', () => {
    const handedOver = (text: string): number => text.match(/SVCD_ACCEPT_PROGRAM_VERSION: \}$/gm)?.length ?? 0
    const written = composeFile([], { uid: 1, gid: 1 }, false) // One anchor for all applications.
    expect([...FILES.map(read), written].map(handedOver)).toEqual([1, 5, 1])
  })

  test('every base image is an argument', () => {
    expect(
      [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) =>
        image?.replace(/^\$\{(\w+)\}$/, 'argument $1'),
      ),
    ).toEqual(['argument GO_IMAGE', 'argument NODE_IMAGE', 'argument NODE_IMAGE'])
  })

  test('the image is built without what only BuildKit knows', () => {
    expect(read('Dockerfile')).not.toMatch(/--mount|--chmod|--link|<<|^# syntax/m)
  })

  test('two ports are published, on loopback', () => {
    const compose = read('docker-compose.yml')
    const ports = [...compose.matchAll(/^ +ports: \['127\.0\.0\.1:\$\{(\w+):-(\d+)\}:\2'\]$/gm)].map(
      ([, name, port]) => `${name} ${port}`,
    )
    expect(ports).toEqual(['SVCD_RPC_PORT 26657', 'SVCD_GATEWAY_PORT 8545'])
    expect(compose.match(/ports:/g)).toHaveLength(2)
    expect(read('docker-compose.testnet.yml')).not.toContain('ports:')
  })

  test.each(FILES)(
    '%s has neither a version nor a name, which one compose or the other refuses or warns of',
    (file) => {
      expect(read(file)).not.toMatch(/^(?:version|name):/m)
    },
  )

  test('one service builds the image: two that build one name at the same time fail in the compose of today', () => {
    const builds = FILES.flatMap((file) =>
      [...servicesIn(read(file))].flatMap(([name, { text }]) => (text.includes('build:') ? [`${file} ${name}`] : [])),
    )
    expect(builds).toEqual(['docker-compose.yml init'])
    for (const file of FILES) expect(read(file).split('\nservices:')[0]).not.toContain('build:')
  })

  test.each(FILES)('%s asks no registry for an image that is built here', (file) => {
    expect(read(file)).toContain('x-svcd: &svcd\n  image: svcd\n')
    expect(read(file)).toMatch(/^ {2}pull_policy: never$/m)
  })

  test.each(FILES)('%s says to svcd what svcd accepts', async (file) => {
    const commands = commandsIn(read(file))
    expect(read(file).match(/command:/g)).toHaveLength(commands.length)
    const ours = commands.filter(([program]) => program === 'svcd')
    expect(ours.length).toBeGreaterThan(1)
    for (const words of ours) expect(await optionsOf(words)).toMatchObject({})
    await expect(optionsOf([...(ours[0] ?? []), '--no-such-flag'])).rejects.toThrow('unknown option')
  })

  test.each(FILES)('%s has the application and CometBFT meet at a socket in the home, and at no port', (file) => {
    expect(read(file)).not.toMatch(/26658|--abci/)
    expect(read(file)).toContain("test: [CMD, grep, -q, ' 00010000 .*/abci.sock', /proc/net/unix]")
  })

  test.each(FILES)(
    '%s gives every service no capability, no new privileges, a root that cannot be written, and bounds',
    (file) => {
      assertConfined(read(file))
    },
  )

  test('the image takes in nothing but what is named', () => {
    const lines = read('.dockerignore')
      .split('\n')
      .filter((line) => !/^(?:#|$)/.test(line))
    expect(lines[0]).toBe('*')
    const named = lines.filter((line) => line.startsWith('!'))
    expect(named.filter((line) => !existsSync(join(root, line.slice(1))))).toEqual([])
  })
})

describe('the four validators and the full node of docker-compose.testnet.yml', () => {
  const text = read('docker-compose.testnet.yml')
  const services = servicesIn(text)
  const planned = async () => {
    const [words = []] = commandsIn(text).filter(([, name]) => name === 'testnet')
    return planNodes((await optionsOf(words)) as unknown as Parameters<typeof planNodes>[0])
  }

  test('have each an application and a CometBFT on the home that init makes, and are dialled by the names of their services', async () => {
    const nodes = await planned()
    expect(nodes.map(({ name }) => name)).toEqual(['node0', 'node1', 'node2', 'node3', 'full0'])
    for (const { name, peer } of nodes) {
      const { environment } = services.get(peer.host) as Service
      expect(environment).toEqual({ CMTHOME: `/chain/${name}`, CMT_PROXY_APP: `unix:///chain/${name}/abci.sock` })
      expect(services.get(peer.host.replace('cometbft', 'app'))?.environment).toEqual({ SVCD_HOME: `/chain/${name}` })
    }
    expect([...services.keys()].sort()).toEqual([...TESTNET_SERVICES.filter((one) => one !== 'gateway'), 'init'].sort())
  })

  test('keep all in a volume of their own, so that the chain of one validator stays as it is', () => {
    expect(text.match(/volumes: \['testnet:\/chain'\]/g)).toHaveLength(4)
    expect(text).not.toMatch(/\bchain:\//)
  })

  test('are healthy and start again as the one validator', () => {
    const checks = (file: string): readonly string[] =>
      [...read(file).matchAll(/^ +(?:test|restart): .*$/gm)].map(([line]) => line.trim())
    expect(checks('docker-compose.yml')).toEqual(expect.arrayContaining([...checks('docker-compose.testnet.yml')]))
    expect(checks('docker-compose.testnet.yml')).toHaveLength(4)
  })
})

describe('the compose file that svcd testnet writes', () => {
  const { path: folder, remove } = tempFolder('compose')
  afterAll(remove)
  const written = (name: string, publicKeys: boolean) => {
    const output = join(folder, name)
    const nodes = planNodes({ validators: '2', fullNodes: '1', basePort: '27000', host: '127.0.0.1' })
    const made = writeTestnet({ output, nodes, chainId: 'net-1', publicKeys })
    const text = readFileSync(join(output, 'docker-compose.yml'), 'utf8')
    return { ...made, output, text, services: servicesIn(text) }
  }

  test('has both parts for each home, which dial each other inside, and publishes on loopback where the scripts listen', () => {
    const { nodes, output, text, services } = written('private', false)
    expect([...services.keys()]).toEqual([
      ...nodes.flatMap(({ name }) => [`app-${name}`, `cometbft-${name}`]),
      'gateway',
    ])
    for (const { name, rpcPort } of nodes) {
      const peers = nodes.filter((one) => one.name !== name).map((one) => `${one.nodeId}@cometbft-${one.name}:26656`)
      expect(existsSync(join(output, name, 'config', 'genesis.json'))).toBe(true)
      for (const part of ['app', 'cometbft'])
        expect(services.get(`${part}-${name}`)?.text).toContain(`volumes: ['./${name}:/chain']`)
      expect(services.get(`cometbft-${name}`)?.text).toContain(`ports: ['127.0.0.1:${rpcPort}:26657']`)
      expect(services.get(`cometbft-${name}`)?.environment).toEqual({
        CMT_RPC_LADDR: 'tcp://0.0.0.0:26657',
        CMT_P2P_LADDR: 'tcp://0.0.0.0:26656',
        CMT_P2P_EXTERNAL_ADDRESS: `cometbft-${name}:26656`,
        CMT_P2P_PERSISTENT_PEERS: peers.join(','),
      })
    }
    expect(services.get('gateway')?.text).toContain("ports: ['127.0.0.1:27002:8545']")
    expect(text.match(/ports:/g)).toHaveLength(4)
    // Its home says where: the working folder of both containers.
    expect(readFileSync(join(output, 'node0', 'config', 'config.toml'), 'utf8')).toContain(
      'proxy_app = "unix://abci.sock"',
    )
    assertConfined(text)
    const { uid, gid } = userInfo()
    expect(text).toContain(`user: '${uid}:${gid}'`)
  })

  test.each([true, false])(
    'public keys %s: that is whether its gateway signs for the public accounts',
    async (publicKeys) => {
      const commands = commandsIn(written(`keys ${publicKeys}`, publicKeys).text).filter(
        ([program]) => program === 'svcd',
      )
      const [app, gateway] = await Promise.all(commands.map(optionsOf))
      expect(commands).toHaveLength(2)
      expect(app).toEqual({
        history: true,
        home: expect.any(String),
        logLevel: 'info',
        verifyThreads: expect.any(Number),
      })
      const listen = { host: '0.0.0.0', port: 8545 }
      expect(gateway).toMatchObject({ listen, node: 'http://cometbft-node0:26657' })
      expect(gateway?.['devnet']).toBe(publicKeys ? true : undefined)
      expect(gateway).not.toHaveProperty('unlock')
    },
  )
})

describe('where no engine answers', () => {
  test('the test of the real containers says why it skips', async () => {
    expect(findEngine({ PATH: '' })).toBe('there is no docker program on the PATH')
    expect(await main({ PATH: '' })).toBe('skipped: there is no docker program on the PATH')
  })
})
