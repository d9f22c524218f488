/**
 * Trails of who did what, in files of this node: an access log, and a log of security events for fail2ban. No line holds a
 * path, slug, token, name, query or Referer: these open or tell things.
 */
import { appendFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Config } from '../config.ts'
import { recordLockOut } from '../core/audit-log.ts'
import type { TrafficCounter } from '../core/traffic.ts'
import type { Database } from '../database/database.ts'
import { type Clock, DAY, MINUTE, repeat, SECOND } from '../domain/clock.ts'
import { isoDay } from '../domain/days.ts'
import type { Refusal, RefusedTry } from '../domain/errors.ts'
import type { Log } from '../log.ts'
import { WholeAnswer } from './answers/answers.ts'
import type { Call } from './call.ts'
import type { Sent } from './connections/exchange.ts'
import { bytesRead } from './requests/body.ts'

export type Trails = Awaited<ReturnType<typeof openTrails>>

/** Days after which a day's security events are deleted. */
const SECURITY_DAYS = 7
/** Bytes of a day's file; what comes beyond is dropped. */
const MOST_OF_DAY = 1024 ** 3
/** Lines that wait to be written; a disk that takes none costs no more memory. */
const MOST_WAITING = 10_000
const LONGEST_AGENT = 300
/** Bytes at the end of a file within which a whole line stands. */
const LAST_LINES = 16 * 1024
/** Names that are looked up in one query. */
const AT_ONCE = 200

interface TrailParts {
  readonly config: Pick<Config, 'logs'>
  readonly clock: Clock
  readonly db: Database
  readonly log: Log
}

export async function openTrails(parts: TrailParts) {
  const { logs } = parts.config
  const files = logs === null ? null : await openFiles(parts, logs)
  return {
    answered(context: Call, sent: Sent, milliseconds: number): void {
      files?.answered(context, sent, milliseconds)
    },
    /** Notes a refused key or password, and in the audit log that no more are tried. Never throws. */
    async refused(context: Call, { refusedTry }: Refusal): Promise<void> {
      if (refusedTry === null) return
      files?.refused(context.address, refusedTry)
      if (refusedTry.outcome === 'locked out') await auditLockOut(parts, context, refusedTry)
    },
    /** Writes what is left. */
    stop: async (): Promise<void> => files?.stop(),
  }
}

/** In the audit log, which is there also where no files are written. */
async function auditLockOut(
  { db, clock, log }: TrailParts,
  { caller, address }: Call,
  refusedTry: RefusedTry,
): Promise<void> {
  const who =
    caller?.kind === 'account'
      ? ({ kind: 'owner', account: caller.account, username: caller.username, address } as const)
      : ({ kind: 'stranger', address } as const)
  await recordLockOut(db, clock, who, refusedTry).catch((error: unknown) =>
    log.error({ err: error }, 'the audit log failed'),
  )
}

async function openFiles({ clock, db, log }: TrailParts, logs: NonNullable<Config['logs']>) {
  await mkdir(logs.folder, { recursive: true, mode: 0o750 })
  const files = { clock, log, folder: logs.folder }
  const access = new DailyFile('access', logs.accessDays, files)
  const security = new DailyFile('security', SECURITY_DAYS, files)
  const lines: AccessLine[] = []

  async function write(): Promise<void> {
    const taken = lines.splice(0)
    const numbers = taken.length === 0 ? new Map() : await numbersOf(db, taken)
    for (const line of taken) access.hold(accessText(line, numbers))
    await Promise.all([access.write(), security.write()])
  }
  let writing: Promise<void> | null = null
  const writeUnlessWriting = () => {
    writing ??= write().finally(() => {
      writing = null
    })
  }
  writeUnlessWriting()
  const stopWriting = repeat(clock.timers, SECOND, writeUnlessWriting)

  return {
    answered(context: Call, { status, bytes }: Sent, milliseconds: number): void {
      if (logs.accessDays === 0 || lines.length >= MOST_WAITING) return
      const caller = logs.isAnonymous ? null : context.caller
      lines.push({
        time: clock.now(),
        address: logs.isAnonymous ? networkOf(context.address) : plainAddress(context.address),
        method: context.request.method,
        route: context.route,
        named: namedIn(context.route, context.params),
        account: caller?.kind === 'account' ? caller.account : null,
        status,
        bytes,
        ms: Math.round(milliseconds),
        agent: logs.isAnonymous ? null : agentOf(context.request),
      })
    },
    refused(address: string, { secret, outcome }: RefusedTry): void {
      const time = new Date(clock.now()).toISOString()
      const word = outcome === 'refused' ? 'refused' : 'locked'
      // Words of `deploy/fail2ban/filter.d/holdfast.conf`.
      security.hold(`${time} ${secret} ${word} from ${plainAddress(address)}`)
    },
    async stop(): Promise<void> {
      stopWriting()
      await writing
      await write()
    },
  }
}

function agentOf({ headers }: Request): string | null {
  return headers.get('user-agent')?.slice(0, LONGEST_AGENT) ?? null
}

/** The address alone, whatever a proxy says it is. */
function plainAddress(address: string): string {
  return isIP(address) === 0 ? '-' : address
}

/** The first 24 bits of an IPv4 address, 48 of an IPv6 one. */
function networkOf(address: string): string {
  const version = isIP(address)
  if (version === 4) return `${address.split('.').slice(0, 3).join('.')}.0`
  if (version === 0) return '-'
  const [head = ''] = address.split('::')
  const groups = head
    .split(':')
    .filter((group) => group !== '')
    .slice(0, 3)
  return `${groups.join(':')}::`
}

interface Named {
  readonly kind: 'file' | 'folder' | 'link'
  readonly name: string
}

interface AccessLine {
  readonly time: number
  readonly address: string
  readonly method: string
  readonly route: string
  readonly named: Named | null
  readonly account: number | null
  readonly status: number
  readonly bytes: number
  readonly ms: number
  readonly agent: string | null
}

/** What the route names by its parameters, by the beginning of its pattern. */
const NAMING: readonly [RegExp, Named['kind'], string][] = [
  [/^\/d\/\{slug\}/, 'file', 'slug'],
  [/^\/t\/\{uuid\}/, 'file', 'uuid'],
  [/^\/v2\/\{file\}/, 'file', 'file'],
  [/^\/api\/v1\/file\/\{id\}/, 'file', 'id'],
  [/^\/(f|files)\/\{identifier\}/, 'folder', 'identifier'],
  [/^\/api\/v1\/folder\/\{identifier\}/, 'folder', 'identifier'],
  [/^\/l\/\{link\}/, 'link', 'link'],
  [/^\/api\/v1\/links\/\{link\}/, 'link', 'link'],
]

function namedIn(route: string, params: Readonly<Record<string, string>>): Named | null {
  const found = NAMING.find(([pattern]) => pattern.test(route))
  if (found === undefined) return null
  const [, kind, parameter] = found
  // Content is named by its UUID and an extension.
  const name = params[parameter]?.replace(/\..*$/s, '') ?? ''
  return name === '' || name.length > 100 ? null : { kind, name }
}

type Numbers = ReadonlyMap<string, number>

const keyOf = ({ kind, name }: Named) => `${kind} ${name}`

/** The numbers of what the lines name, in a query for each kind. What is not there, or not found out, has none. */
async function numbersOf(db: Database, lines: readonly AccessLine[]): Promise<Numbers> {
  const numbers = new Map<string, number>()
  const names = (kind: Named['kind']) => [
    ...new Set(lines.flatMap(({ named }) => (named?.kind === kind ? [named.name] : []))),
  ]
  const note = (kind: Named['kind'], name: string, id: number) => numbers.set(keyOf({ kind, name }), id)
  const [files, folders, links] = [names('file'), names('folder'), names('link')]
  try {
    for (let at = 0; at < files.length; at += AT_ONCE) {
      const some = files.slice(at, at + AT_ONCE)
      const rows = await db
        .selectFrom('files')
        .select(['id', 'slug', 'uuid'])
        .where((file) => file.or([isIn('slug', some), isIn('uuid', some)]))
        .execute()
      for (const { id, slug, uuid } of rows) {
        note('file', slug, id)
        note('file', uuid, id)
      }
    }
    for (let at = 0; at < folders.length; at += AT_ONCE) {
      const some = folders.slice(at, at + AT_ONCE)
      const rows = await db
        .selectFrom('folders')
        .select(['id', 'identifier'])
        .where(isIn('identifier', some))
        .execute()
      for (const { id, identifier } of rows) note('folder', identifier, id)
    }
    for (let at = 0; at < links.length; at += AT_ONCE) {
      const some = links.slice(at, at + AT_ONCE)
      const rows = await db.selectFrom('links').select(['id', 'slug']).where(isIn('slug', some)).execute()
      for (const { id, slug } of rows) note('link', slug, id)
    }
  } catch {}
  return numbers
}

/** Names come from addresses, so they may be anything. */
function isIn(column: 'slug' | 'uuid' | 'identifier', names: readonly string[]) {
  return sql<boolean>`${sql.ref(column)} in (${sql.join(names)})`
}

function accessText(line: AccessLine, numbers: Numbers): string {
  const { time, named, ...rest } = line
  const isNumber = named !== null && /^\d{1,15}$/.test(named.name)
  const number = named === null ? null : isNumber ? Number(named.name) : (numbers.get(keyOf(named)) ?? null)
  const text = JSON.stringify({
    time: new Date(time).toISOString(),
    ...rest,
    ...(named === null ? {} : { [named.kind]: number }),
  })
  // Nothing that a terminal or another reader of the file takes for more than text.
  return text.replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

interface DailyFileParts {
  readonly clock: Clock
  readonly log: Log
  readonly folder: string
}

/**
 * `<name>.log`, which is renamed to `<name>-<day>.log` after the day, by UTC, and deleted after so many days; 0 keeps the
 * present day alone. Nothing that the disk does is an error of the caller.
 */
class DailyFile {
  readonly #path: string
  readonly #name: string
  readonly #days: number
  readonly #parts: DailyFileParts
  #held: string[] = []
  /** Day that the files were last put in order for. */
  #day: string | null = null
  #written = 0
  /** Whether the file may end within a line: a write failed, or a process was killed. */
  #isTorn = false
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(name: string, days: number, parts: DailyFileParts) {
    this.#name = name
    this.#days = days
    this.#parts = parts
    this.#path = join(parts.folder, `${name}.log`)
  }

  hold(line: string): void {
    if (this.#held.length < MOST_WAITING) this.#held.push(line)
  }

  /** Writes the lines that are held, and puts the files in order when a new day has begun, also without lines. */
  async write(): Promise<void> {
    const lines = this.#held
    this.#held = []
    try {
      await this.#turnOver()
      if (lines.length === 0) return
      const text = `${this.#isTorn ? '\n' : ''}${lines.join('\n')}\n`
      if (this.#written + text.length > MOST_OF_DAY)
        throw new Error(`${this.#path} has all that a day may have`)
      this.#isTorn = true
      await appendFile(this.#path, text, { mode: 0o640 })
      this.#isTorn = false
      this.#written += text.length
    } catch (error) {
      const now = this.#parts.clock.monotonic()
      if (now - this.#toldAt < MINUTE) return
      this.#toldAt = now
      this.#parts.log.error({ err: error, lines: lines.length }, `the ${this.#name} log failed`)
    }
  }

  async #turnOver(): Promise<void> {
    const { clock, folder } = this.#parts
    const today = isoDay(clock.now(), 'UTC')
    if (today === this.#day) return
    const present = await endOf(this.#path)
    // A clock that was set back goes on in the same file.
    const isOver = present !== null && present.day !== null && present.day < today
    const files = new Set(await readdir(folder))
    if (isOver) {
      const past = pastNames(this.#name, present.day).find((name) => !files.has(name))
      if (past === undefined) throw new Error(`${folder} has too many files of ${present.day}`)
      await rename(this.#path, join(folder, past))
      files.add(past)
    }
    const oldest = isoDay(clock.now() - this.#days * DAY, 'UTC')
    for (const file of files) {
      const day = new RegExp(`^${this.#name}-(\\d{4}-\\d\\d-\\d\\d)(?:\\.\\d+)?\\.log$`).exec(file)?.[1]
      if (day !== undefined && day < oldest) await rm(join(folder, file), { force: true })
    }
    this.#written = isOver ? 0 : (present?.size ?? 0)
    this.#isTorn = !isOver && present?.isTorn === true
    this.#day = today
  }
}

/** Names for the file of a day, with a number where the day has one already. */
function pastNames(name: string, day: string): string[] {
  return ['', '.1', '.2', '.3', '.4'].map((number) => `${name}-${day}${number}.log`)
}

interface FileEnd {
  readonly size: number
  /** Of the last line: the time of the file itself says when it was copied or restored. Null for an empty file. */
  readonly day: string | null
  readonly isTorn: boolean
}

/** Null where there is no file. */
async function endOf(path: string): Promise<FileEnd | null> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  })
  if (file === null) return null
  try {
    const { size, mtimeMs } = await file.stat()
    if (size === 0) return { size, day: null, isTorn: false }
    const at = Math.max(0, size - LAST_LINES)
    const { bytesRead, buffer } = await file.read(Buffer.alloc(LAST_LINES), 0, LAST_LINES, at)
    const text = buffer.toString('latin1', 0, bytesRead)
    const times = text.matchAll(/^(?:\{"time":")?(\d{4}-\d\d-\d\d)T/gm)
    return { size, day: [...times].at(-1)?.[1] ?? isoDay(mtimeMs, 'UTC'), isTorn: !text.endsWith('\n') }
  } finally {
    await file.close()
  }
}

export interface RequestWatch {
  /** `route`: the pattern; paths are unbounded. */
  answered(route: string, method: string, status: number, milliseconds: number): void
  received(bytes: number): void
  sent(bytes: number): void
  refusedConnection(): void
}

type RequestLog = (context: Call, response: Response | WholeAnswer, began: number) => void

const HEALTH_CHECKS = ['/health', '/ready', '/metrics']

/**
 * Logs and counts each request after its response, with actual status and bytes; endless event streams when they begin.
 * Omits URLs, which may contain tokens and search words.
 */
export function createRequestLog(parts: {
  log: Log
  clock: Clock
  metrics: RequestWatch | null
  traffic: TrafficCounter
  trails: Trails
}): RequestLog {
  const { log, clock, metrics, traffic, trails } = parts

  return (context, response, began) => {
    const { request, route, id } = context

    // An event stream's duration is no response time.
    const isEndless =
      !(response instanceof WholeAnswer) &&
      response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (isEndless) metrics?.answered(route, request.method, response.status, clock.monotonic() - began)

    function write({ status, bytes }: Sent): void {
      const who = context.caller
      const took = clock.monotonic() - began
      const { isStreaming } = context.connection
      // Actual bytes instead of Content-Length: an upload may break off.
      const received = isStreaming ? context.connection.received() : bytesRead(request)
      const fields = {
        method: request.method,
        route,
        status,
        bytes,
        received,
        ms: Math.round(took * 10) / 10,
        account: who?.kind === 'account' ? who.username : 'guest',
        id,
      }
      log.info(fields, 'request')
      trails.answered(context, { status, bytes }, took)
      // Health checks do not count, so that an idle server writes nothing.
      if (!HEALTH_CHECKS.includes(route)) traffic.requested()
      if (!isEndless) metrics?.answered(route, request.method, status, took)
      if (isStreaming || HEALTH_CHECKS.includes(route)) return
      traffic.received(received)
      traffic.sent(bytes)
      metrics?.received(received)
      metrics?.sent(bytes)
    }

    context.connection.whenOver(write)
  }
}
