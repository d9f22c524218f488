/** Why a folder cannot be written, and the remedy. */
import { accessSync, constants, readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Environment, written } from '../config/environment.ts'
import { settings } from '../settings.ts'

const FOLDERS = [settings.dataDir, settings.backup, settings.mirror, settings.drillFolder]

interface NamedFolder {
  readonly variable: string
  readonly path: string
}

const isWithin = (inner: string, outer: string) => `${inner}/`.startsWith(outer === '/' ? '/' : `${outer}/`)

/** The setting whose folder is, contains, or lies below the path; undefined for a path of the command line. */
export function folderSettingOf(path: string, environment: Environment): NamedFolder | undefined {
  const here = resolve(path)
  const named = FOLDERS.flatMap((setting) => {
    const text = written(setting, environment) ?? setting.default
    // An address of an S3 store is no path.
    return text === '' || /^https?:/.test(text) ? [] : [{ variable: setting.variable, path: resolve(text) }]
  }).sort((one, other) => other.path.length - one.path.length)
  return named.find((each) => isWithin(here, each.path)) ?? named.find((each) => isWithin(each.path, here))
}

/** The path, prefixed by its setting; the setting's folder where the path lies above it. */
export function withFolderSetting(path: string, folder: NamedFolder | undefined): string {
  if (folder === undefined) return path
  return `${folder.variable}: ${isWithin(folder.path, resolve(path)) ? folder.path : path}`
}

export function otherFolderAdvice(folder: NamedFolder | undefined): string {
  return folder === undefined ? 'name another one' : `set ${folder.variable} to a folder of its own`
}

export function readOnlyMessage(path: string, folder: NamedFolder | undefined): string {
  return `${withFolderSetting(path, folder)} is on a disk that is mounted read-only. Mount it for writing, or ${otherFolderAdvice(folder)}.`
}

/** Names the owner of the nearest visible folder. */
export function notWritableMessage(path: string, environment: Environment): string {
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
