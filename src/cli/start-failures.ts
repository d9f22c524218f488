import { accessSync, constants, fstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type Environment, variableInUse, written } from '../config/environment.ts'
import { postgresPlace, postgresUrl, socketFolder } from '../domain/addresses.ts'
import { type Setting, settings } from '../settings.ts'

/** The setting, what is wrong, and what to do. Null for other errors. */
export function explainStart(error: unknown, environment: Environment): string | null {
  if (!(error instanceof Error)) return null
  const code = 'code' in error ? String(error.code) : ''
  const facts: Facts = {
    environment,
    path: 'path' in error && typeof error.path === 'string' ? error.path : null,
    isListening: ('syscall' in error && error.syscall === 'listen') || /\blisten\b/.test(error.message),
    detail: error.message,
  }
  if (code.startsWith('SQLITE_')) return ofSqlite(code, facts)
  // A PostgreSQL socket is a file, but its failures are not those of folders.
  if (/^connect\b/.test(error.message) || !('code' in error)) return ofPostgres(code, facts)
  return (
    (facts.isListening ? ofListening(code, facts) : null) ?? ofFiles(code, facts) ?? ofPostgres(code, facts)
  )
}

interface Facts {
  readonly environment: Environment
  readonly path: string | null
  readonly isListening: boolean
  readonly detail: string
}

function inForce(setting: Setting<unknown>, environment: Environment): string {
  return written(setting, environment) ?? setting.default
}

const dataDir = ({ environment }: Facts) => resolve(inForce(settings.dataDir, environment))

function ofSqlite(code: string, facts: Facts): string | null {
  const database = join(dataDir(facts), 'holdfast.sqlite')
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return `the database ${database} is damaged, or is no SQLite database (${facts.detail}). Keep a copy of it and of ${database}-wal, then restore the last backup: docs/operations/disaster.md. HOLDFAST_DATA_DIR says where it is looked for.`
  }
  if (/^SQLITE_(CANTOPEN|READONLY|PERM|AUTH)/.test(code))
    return notWritableMessage(dataDir(facts), facts.environment)
  if (/^SQLITE_(FULL|IOERR_SHMSIZE)/.test(code)) return full(dataDir(facts), facts)
  return null
}

function ofListening(code: string, { environment }: Facts): string | null {
  const [host, port] = [inForce(settings.host, environment), inForce(settings.port, environment)]
  switch (code) {
    case 'EADDRINUSE':
      return `HOLDFAST_PORT is ${port}: another program listens at ${host}:${port} already. Stop that one ("ss -ltnp" names it), or set HOLDFAST_PORT to a free port.`
    case 'EACCES':
    case 'EPERM':
      return `HOLDFAST_PORT is ${port}: ports below 1024 are for root. Set one from 1024 up and put a proxy before it.`
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
    case 'ENOENT':
    case 'ENOTFOUND':
      return `HOLDFAST_HOST is ${host}: that is not an address of this machine, or a name that does not resolve. Set it to 127.0.0.1, to 0.0.0.0 for every network, or to one of this machine's addresses. What visitors type belongs into HOLDFAST_PUBLIC_URL.`
    default:
      return null
  }
}

function ofFiles(code: string, facts: Facts): string | null {
  const path = facts.path ?? dataDir(facts)
  const folder = folderSettingOf(path, facts.environment)
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return notWritableMessage(path, facts.environment)
    case 'EROFS':
      return readOnlyMessage(path, folder)
    case 'ENOSPC':
    case 'EDQUOT':
      return full(path, facts)
    case 'ENOTDIR':
    case 'EEXIST':
      return `${withFolderSetting(path, folder)} is not a folder, or lies in what is none. ${sentence(otherFolderAdvice(folder))}.`
    case 'ENOENT':
      return `${withFolderSetting(path, folder)} cannot be made (${facts.detail}). ${sentence(otherFolderAdvice(folder))} that is there, or that can be made.`
    default:
      return null
  }
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function full(path: string, { environment }: Facts): string {
  const other = otherFolderAdvice(folderSettingOf(path, environment))
  return `the disk under ${path} is full. Free some room and start again, or ${other} on another disk.`
}

function ofPostgres(code: string, { environment, detail }: Facts): string | null {
  const written = inForce(settings.databaseUrl, environment)
  const url = postgresUrl(written)
  if (url === null) return null
  const variable = variableInUse(settings.databaseUrl, environment)
  const place = postgresPlace(url)
  const user = decodeURIComponent(url.username || url.searchParams.get('user') || '')
  if (detail.includes('does not support SSL'))
    return `PostgreSQL at ${place} speaks no TLS, and ${variable} asks for it. Set "ssl = on" there with a certificate (ssl_cert_file, ssl_key_file), or take sslmode away.`
  const fault = certificateFault(code, detail, url)
  if (fault !== null) return `${variable}: ${fault}`
  const folder = socketFolder(url)
  const asks = folder === null ? `--host=${url.hostname}` : `--host=${folder}`
  const port = url.port || url.searchParams.get('port') || '5432'
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${variable} names the host "${url.hostname}", which does not resolve. Correct it, or see to the name.`
    case 'ENOENT':
      return `there is no socket ${place}, which ${variable} names. See that PostgreSQL runs and has its socket there (unix_socket_directories), or name another folder.`
    case 'EACCES':
    case 'EPERM':
      return `this user may not open the socket ${place}, which ${variable} names. Let it in (unix_socket_permissions, unix_socket_group), or go by another address.`
    case 'ECONNREFUSED':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case '57P03':
      return `the database of ${variable} does not answer at ${place}. See that PostgreSQL runs and listens there ("pg_isready ${asks} --port=${port}").`
    case '28000':
      if (/no pg_hba\.conf entry/.test(detail)) return notLetIn(place, variable, detail)
      if (/[Pp]eer authentication/.test(detail))
        return `PostgreSQL lets "${user}" in by the socket ${place} only for the system's user of that name (peer). Run this as that user, name that user in ${variable}, or have a line of pg_hba.conf ask for a password (scram-sha-256).`
      return `PostgreSQL at ${place} refuses the user "${user}" of ${variable}: ${detail}.`
    case '28P01':
      return `PostgreSQL at ${place} refuses the user "${user}" or the password of ${variable}. Correct them (special characters are percent-encoded), or set the password anew: ALTER ROLE … PASSWORD.`
    case '3D000':
      return `PostgreSQL at ${place} has no database "${url.pathname.slice(1)}", which ${variable} names. Make it with "createdb", or correct the name.`
    case '42501':
      return `the user of ${variable} may not make tables in that database. Make the user its owner: ALTER DATABASE … OWNER TO ….`
    default:
      return null
  }
}

/** pg_hba.conf has no line for this connection: often only `hostssl` lines. */
function notLetIn(place: string, variable: string, detail: string): string {
  if (detail.includes('no encryption'))
    return `PostgreSQL at ${place} takes no connection from here that is not encrypted (its pg_hba.conf has hostssl alone, or no line for this machine). Add ?sslmode=verify-full to ${variable}, with &sslrootcert=<path> where the authority is your own; if it is refused all the same, add a line to pg_hba.conf.`
  return `PostgreSQL at ${place} has no line in its pg_hba.conf that lets this user and machine into the database of ${variable} (${detail}). Add one, and reload PostgreSQL.`
}

function certificateFault(code: string, detail: string, url: URL): string | null {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `the certificate of PostgreSQL is for another name than "${url.hostname}", which sslmode=verify-full compares. Name the host as the certificate does, or take verify-ca.`
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `the certificate of PostgreSQL is not valid at this time (${detail}). Renew it, and see that the clocks are right.`
  if (!/SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|CERT_|INVALID_CA/.test(code)) return null
  const authority = url.searchParams.get('sslrootcert')
  return authority === null
    ? `the certificate of PostgreSQL is signed by an authority that this machine does not know (${detail}). Name the authority's certificate with &sslrootcert=<path>.`
    : `the certificate of PostgreSQL is not signed by the authority in ${authority} (${detail}).`
}

/** Why a folder cannot be written, and the remedy. */
const FOLDERS = [settings.dataDir, settings.backup, settings.mirror, settings.drillFolder]

interface NamedFolder {
  readonly variable: string
  readonly path: string
}

const isWithin = (inner: string, outer: string) => `${inner}/`.startsWith(outer === '/' ? '/' : `${outer}/`)

/** The setting whose folder is, contains, or lies below the path; undefined for a path of the command line. */
function folderSettingOf(path: string, environment: Environment): NamedFolder | undefined {
  const here = resolve(path)
  const named = FOLDERS.flatMap((setting) => {
    const text = written(setting, environment) ?? setting.default
    // An address of an S3 store is no path.
    return text === '' || /^https?:/.test(text) ? [] : [{ variable: setting.variable, path: resolve(text) }]
  }).sort((one, other) => other.path.length - one.path.length)
  return named.find((each) => isWithin(here, each.path)) ?? named.find((each) => isWithin(each.path, here))
}

/** The path, prefixed by its setting; the setting's folder where the path lies above it. */
function withFolderSetting(path: string, folder: NamedFolder | undefined): string {
  if (folder === undefined) return path
  return `${folder.variable}: ${isWithin(folder.path, resolve(path)) ? folder.path : path}`
}

function otherFolderAdvice(folder: NamedFolder | undefined): string {
  return folder === undefined ? 'name another one' : `set ${folder.variable} to a folder of its own`
}

function readOnlyMessage(path: string, folder: NamedFolder | undefined): string {
  return `${withFolderSetting(path, folder)} is on a disk that is mounted read-only. Mount it for writing, or ${otherFolderAdvice(folder)}.`
}

/** Names the owner of the nearest visible folder. */
function notWritableMessage(path: string, environment: Environment): string {
  const folder = folderSettingOf(path, environment)
  const user = process.getuid?.() ?? 'unknown'
  const { present, stats, isClosed } = nearest(path)
  if (isReadOnly(present)) return readOnlyMessage(path, folder)
  const owner = stats === null ? '' : ` ${present} belongs to user ${stats.uid} with mode ${mode(stats)}.`
  const what = isClosed ? 'cannot be reached: a folder above it may not be entered' : 'cannot be written'
  const remedy = isClosed ? null : remedyOf(folder?.path ?? resolve(path), user)
  const give = remedy === null ? '' : `${remedy}, or `
  return `${withFolderSetting(path, folder)} ${what}.${owner} Holdfast runs as user ${user}. Run it as the owner, ${give}${otherFolderAdvice(folder)}.`
}

const mode = ({ mode }: Stats) => (mode & 0o777).toString(8)

/** The path or its nearest existing parent; `isClosed`: the rest is not visible. */
function nearest(path: string): { present: string; stats: Stats | null; isClosed: boolean } {
  let isClosed = false
  for (let each = resolve(path); ; each = dirname(each)) {
    try {
      const stats = statSync(each, { throwIfNoEntry: false })
      if (stats !== undefined) return { present: each, stats, isClosed }
    } catch {
      isClosed = true
    }
    if (each === dirname(each)) return { present: each, stats: null, isClosed }
  }
}

/** Never changes a parent folder, which others use. Null for a folder with other files. */
function remedyOf(folder: string, user: number | 'unknown'): string | null {
  const quoted = /^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`
  switch (contentsOf(folder)) {
    case 'missing':
      return `make the folder for it as root ("mkdir -p ${quoted} && chown ${user} ${quoted}")`
    case 'nothing':
      return `give the folder to it as root ("chown ${user} ${quoted}")`
    case 'ours':
      return `give the folder and what is in it to it as root ("chown -R ${user} ${quoted}")`
    case 'unknown':
      return `give the folder to it as root if nothing else is in it ("chown -R ${user} ${quoted}")`
    case 'other':
      return null
  }
}

const OURS = ['holdfast.sqlite', 'server.lock', 'blobs', 'mark', 'mark-copy']

function contentsOf(folder: string): 'missing' | 'nothing' | 'ours' | 'other' | 'unknown' {
  try {
    const names = readdirSync(folder)
    if (names.length === 0) return 'nothing'
    return names.some((name) => OURS.includes(name)) ? 'ours' : 'other'
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'missing' : 'unknown'
  }
}

function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EROFS'
  }
}

/** Value of `LAUNCHED_AS` in the container image, in place of the launcher's path. */
const IMAGE = 'image'
const LAUNCHER_IN_PACKAGE = /\/bin\/holdfast\.js$/
const PLAIN_PATH = /^[\w./-]+$/

export interface Launch {
  /** `LAUNCHED_AS`: the path of the launcher, or the image's value; undefined without either. */
  readonly launchedAs: string | undefined
  readonly isService: boolean
  readonly folder: string
}

/** Distinguishes a systemd service from a process started within one, such as a desktop session. */
export interface Process {
  readonly environment: Environment
  /** Of this process and of the launcher, its parent. */
  readonly pids: readonly number[]
  /** Device and inode of standard output and error, in the format of `JOURNAL_STREAM`. */
  readonly streams: readonly string[]
}

/**
 * Whether systemd has started this process itself. Children of a service inherit its variables, so `INVOCATION_ID` is
 * not sufficient: the process named by systemd must be this one, or the journal's stream must be its own
 * (systemd.exec(5)).
 */
export function isService({ environment, pids, streams }: Process): boolean {
  if (environment.INVOCATION_ID === undefined) return false
  const { SYSTEMD_EXEC_PID: started, JOURNAL_STREAM: journal } = environment
  if (started !== undefined) return pids.includes(Number(started))
  return journal !== undefined && streams.includes(journal)
}

export function thisProcess(environment: Environment): Process {
  return { environment, pids: [process.pid, process.ppid], streams: [1, 2].flatMap(streamOf) }
}

/** Empty for a closed stream. */
function streamOf(descriptor: number): string[] {
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true })
    return [`${dev}:${ino}`]
  } catch {
    return []
  }
}

/** The prefix for running other commands of this installation on the same data, from the current folder. */
export function ownCommand({ launchedAs, isService, folder }: Launch): string {
  if (launchedAs === IMAGE) return 'docker exec <container> holdfast'
  // deploy/holdfast-command runs with the user and the settings of the service.
  if (isService) return 'sudo holdfast'
  if (launchedAs === undefined) return 'holdfast'
  if (dirname(launchedAs).endsWith('/node_modules/.bin')) return 'npx holdfast'
  if (!LAUNCHER_IN_PACKAGE.test(launchedAs)) return basename(launchedAs)
  if (dirname(dirname(launchedAs)) === folder) return 'npx holdfast'
  return `node ${PLAIN_PATH.test(launchedAs) ? launchedAs : `'${launchedAs.replaceAll("'", "'\\''")}'`}`
}
