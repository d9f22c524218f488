import { join, resolve } from 'node:path'
import { type Environment, written } from '../config/environment.ts'
import { type Setting, settings } from '../settings.ts'
import {
  folderSettingOf,
  notWritableMessage,
  otherFolderAdvice,
  readOnlyMessage,
  withFolderSetting,
} from './unwritable-folder.ts'

/** Message for a failed start: the setting, what is wrong, and what to do. Null for other errors. */
export function explainStart(error: unknown, environment: Environment): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  const code = String(error.code)
  const facts: Facts = {
    environment,
    path: 'path' in error && typeof error.path === 'string' ? error.path : null,
    isListening: ('syscall' in error && error.syscall === 'listen') || /\blisten\b/.test(error.message),
    detail: error.message,
  }
  if (code.startsWith('SQLITE_')) return ofSqlite(code, facts)
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

function ofPostgres(code: string, { environment }: Facts): string | null {
  const url = inForce(settings.databaseUrl, environment)
  if (!URL.canParse(url)) return null
  const { hostname, port, username, pathname } = new URL(url)
  const place = `${hostname}:${port || '5432'}`
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOLDFAST_DATABASE_URL names the host "${hostname}", which does not resolve. Correct it, or see to the name.`
    case 'ECONNREFUSED':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case '57P03':
      return `the database of HOLDFAST_DATABASE_URL does not answer at ${place}. See that PostgreSQL runs and listens there ("pg_isready --host=${hostname} --port=${port || '5432'}").`
    case '28P01':
    case '28000':
      return `PostgreSQL at ${place} refuses the user "${decodeURIComponent(username)}" or the password of HOLDFAST_DATABASE_URL. Correct them (special characters are percent-encoded), or set the password anew: ALTER ROLE … PASSWORD.`
    case '3D000':
      return `PostgreSQL at ${place} has no database "${pathname.slice(1)}", which HOLDFAST_DATABASE_URL names. Make it with "createdb", or correct the name.`
    case '42501':
      return `the user of HOLDFAST_DATABASE_URL may not make tables in that database. Make the user its owner: ALTER DATABASE … OWNER TO ….`
    default:
      return null
  }
}
