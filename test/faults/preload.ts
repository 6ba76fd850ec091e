/**
 * Loaded into an application's process before the application, and into its threads: puts a fault (fault.ts) around the
 * calls of better-sqlite3, of sockets and of the file system. The application knows nothing of it.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { createBallast, writeBallast } from './ballast.ts'
import { FAULT_VARIABLE, type Fault, type Place } from './fault.ts'

type Call = (...args: unknown[]) => unknown

const fault = JSON.parse(process.env[FAULT_VARIABLE] ?? '{}') as Fault
const DAY_MS = 86_400_000

let passed = 0
function pass(place: Place): void {
  if (fault.place === place && ++passed === fault.at) process.kill(process.pid, 'SIGKILL')
}

/** Replaces a method of `object` by one that is told of each call. */
function wrap(object: object, name: string, around: (call: Call, self: object, args: unknown[]) => unknown): void {
  const original = Reflect.get(object, name) as Call
  Object.defineProperty(object, name, {
    configurable: true,
    writable: true,
    value: function (this: object, ...args: unknown[]): unknown {
      return around((...given) => Reflect.apply(original, this, given), this, args)
    },
  })
}

let replies = 0 // that were handed to the socket
let isInside = false // in a transaction of the state
let holdsBlock = false // in a transaction that writes a block
let isCommitted = false // a block that is not answered yet

/** Passes the places that come before a statement of the application's thread. */
function before(file: string, sql: string): void {
  if (replies > 0) pass('initChain')
  if (file.endsWith('restore.db')) return pass('restore')
  if (/\brestored\b/i.test(sql)) pass('takeOver')
  if (!file.endsWith('state.db')) return
  if (sql === 'BEGIN IMMEDIATE') pass('begin')
  else if (sql === 'COMMIT') pass('beforeCommit')
  else if (isInside) pass('midWrite')
  if (/^(?:INSERT INTO|REPLACE INTO|DELETE FROM) tree_/.test(sql)) pass('tree')
}

function after(file: string, sql: string): void {
  if (!file.endsWith('state.db')) return
  if (sql === 'BEGIN IMMEDIATE') isInside = true
  if (sql.startsWith('INSERT INTO blocks')) holdsBlock = true
  if (sql !== 'COMMIT') return
  isInside = false
  isCommitted = holdsBlock
  holdsBlock = false
  pass('afterCommit')
}

let blocks = 0 // that were committed, or are about to be

/** Makes the COMMIT of one block end with a long checkpoint. True for that COMMIT. */
function isCheckpoint(file: string, sql: string, exec: (sql: string) => unknown): boolean {
  if (fault.checkpoint === undefined || !file.endsWith('state.db')) return false
  if (sql.startsWith('CREATE TABLE blocks ')) createBallast(exec)
  if (sql !== 'COMMIT' || !holdsBlock || ++blocks !== fault.checkpoint.at) return false
  writeBallast(exec)
  return true
}

const mark = (): void => fs.appendFileSync(fault.checkpoint?.marks ?? '', '.')

/** One statement, which `call` executes in the database `raw`. */
function execute(raw: object, file: string, sql: string, args: readonly unknown[], call: Call): unknown {
  const isBlock = file.endsWith('state.db') && sql.startsWith('INSERT INTO blocks')
  const exec = (text: string): unknown => Reflect.apply(Object.getPrototypeOf(raw).exec as Call, raw, [text])
  before(file, sql)
  if (isBlock && fault.twoTransactions === true) {
    exec('COMMIT')
    exec('BEGIN IMMEDIATE')
  }
  const isMarked = isCheckpoint(file, sql, exec)
  const given = isBlock && fault.trustsClock === true ? args.with(1, Number(args[1]) + shiftMs()) : args
  try {
    if (isMarked) mark()
    const result = call(...given)
    if (isMarked) mark()
    after(file, sql)
    return result
  } catch (error) {
    if (fault.ignoresErrors !== true || !isInside) throw error
    after(file, sql)
    return { changes: 0, lastInsertRowid: 0 }
  }
}

const known = new WeakSet<object>()

/** Wraps the statements of a database. `database.js` of better-sqlite3 prepares them all with the object behind its symbol. */
function adopt(db: object): void {
  const [symbol] = Object.getOwnPropertySymbols(db)
  const raw = symbol === undefined ? undefined : (Reflect.get(db, symbol) as object)
  if (raw === undefined || known.has(raw)) return
  known.add(raw)
  const file = String(Reflect.get(db, 'name'))
  wrap(raw, 'exec', (call, _self, args) => execute(raw, file, String(args[0]), args, call))
  wrap(raw, 'prepare', (call, _self, args) => {
    const statement = call(...args) as object
    for (const name of ['run', 'get', 'all'])
      wrap(statement, name, (run, _statement, values) => execute(raw, file, String(args[0]), values, run))
    return statement
  })
}

if (isMainThread) {
  if (fault.removesLog === true) {
    const home = String(process.argv[process.argv.indexOf('--home') + 1])
    fs.rmSync(join(home, 'data', 'state.db-wal'), { force: true })
  }
  for (const name of ['prepare', 'exec', 'transaction', 'defaultSafeIntegers'])
    wrap(Database.prototype, name, (call, self, args) => {
      adopt(self)
      return call(...args)
    })
  wrap(Database.prototype, 'pragma', (call, self, [text, ...rest]) => {
    adopt(self)
    const isPages = fault.walPages !== undefined && String(text).startsWith('wal_autocheckpoint')
    return call(isPages ? `wal_autocheckpoint = ${fault.walPages}` : text, ...rest)
  })
  // What the server hands to a peer's socket; a socket that this process opened itself has no server.
  wrap(Socket.prototype, 'write', (call, self, args) => {
    if (Reflect.get(self, 'server') instanceof Object) {
      if (isCommitted) pass('reply')
      isCommitted = false
      // InitChain is answered with the second reply. It is over then, whatever it read.
      if (fault.place === 'initChain' && replies === 1) process.kill(process.pid, 'SIGKILL')
      replies++
    }
    return call(...args)
  })
} else {
  for (const name of ['mkdtempSync', 'writeFileSync', 'fsyncSync', 'renameSync', 'rmSync'])
    wrap(fs, name, (call, _self, args) => {
      pass('snapshot')
      return call(...args)
    })
  syncBuiltinESMExports()
}

let readings = 0
function shiftMs(): number {
  const { clockAfter = Infinity } = fault
  return replies < clockAfter ? 0 : replies < 2 * clockAfter ? DAY_MS : -DAY_MS
}

if (fault.clockAfter !== undefined && isMainThread) {
  const Real = Date
  const now = (): number => {
    readings++
    return Real.now() + shiftMs()
  }
  globalThis.Date = new Proxy(Real, {
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
    construct: (target, args: unknown[], self) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, self) as Date,
  })
  process.on('exit', () => fs.writeSync(1, `the clock was ${shiftMs()} ms off at the end of ${readings} readings\n`))
}
