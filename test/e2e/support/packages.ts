import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { allGone } from './processes.ts'
import { type TempFolder, tempFolder } from '../../support/tempFolder.ts'

/** Debian's nginx, where openssl is there too, and the folder of its PostgreSQL's programs; else undefined. */
export const NGINX = globSync('/usr/bin/openssl').length === 0 ? undefined : globSync('/usr/sbin/nginx')[0]
export const POSTGRES = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)

/** Makes a key and a certificate of its own for localhost in a folder: `key.pem` and `cert.pem`. Returns the certificate. */
export function makeCertificate(folder: string): string {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const args = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key]
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...args, '-out', certificate, ...name], { stdio: 'pipe' })
  // nginx runs as another user.
  chmodSync(key, 0o644)
  return readFileSync(certificate, 'utf8')
}

const numberOf = (flag: '-u' | '-g', user: string): number =>
  Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))

/** Neither server runs as root; a test that does gives it this user of its package. */
const idsOf = (user: string): { uid: number; gid: number } | object =>
  process.getuid?.() === 0 ? { uid: numberOf('-u', user), gid: numberOf('-g', user) } : {}

/** A folder that `user` owns, below one that everybody may pass. */
function folderOf(name: string, user: string): TempFolder {
  const folder = tempFolder(name)
  const ids = idsOf(user)
  if ('uid' in ids) chownSync(folder.path, ids.uid, ids.gid)
  return folder
}

/** What a program prints until it ends or `isUp`; throws that when it ends first. */
async function waitUntilUp(child: ChildProcess, isUp: () => Promise<boolean>): Promise<void> {
  let printed = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    printed = (printed + chunk.toString()).slice(-4096)
  })
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}: ${printed}`)
    await sleep(50)
  }
}

/** A server with a temporary folder. `stop` ends it and removes the folder. */
export type SystemServer = ReturnType<typeof serverOf>

function serverOf(child: ChildProcess, { path: folder, remove }: TempFolder, signal: NodeJS.Signals) {
  const stop = async (): Promise<void> => {
    child.kill(signal)
    await allGone([child.pid as number])
    remove()
  }
  return { folder, stop }
}

/** Starts PostgreSQL with an empty cluster that listens at a unix socket in its folder and trusts whoever reaches it. */
export async function startPostgres(): Promise<SystemServer> {
  const bin = POSTGRES as string
  const temp = folderOf('postgres', 'postgres')
  const folder = temp.path
  const options = { ...idsOf('postgres'), cwd: folder }
  const data = join(folder, 'data')
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync'], {
    ...options,
    stdio: 'ignore',
  })
  const args = ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off']
  const child = spawn(join(bin, 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  const isReady = (): boolean => {
    try {
      execFileSync(join(bin, 'pg_isready'), ['-h', folder, '-U', 'postgres'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  }
  await waitUntilUp(child, async () => isReady())
  return serverOf(child, temp, 'SIGINT')
}

/** Starts nginx with a configuration for its `http` block; up when `url` answers anything. */
export async function startNginx(configOf: (folder: string) => string, url: string): Promise<SystemServer> {
  const temp = folderOf('nginx', 'www-data')
  const folder = temp.path
  const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/temp;`)
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;\npid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${temps.join('\n')}\n${configOf(folder)}}\n`,
  )
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']
  const child = spawn(NGINX as string, args, { ...idsOf('www-data'), stdio: ['ignore', 'ignore', 'pipe'] })
  await waitUntilUp(child, async () => (await fetch(url).catch(() => undefined)) !== undefined)
  return serverOf(child, temp, 'SIGTERM')
}
