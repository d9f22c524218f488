import type { Stats } from 'node:fs'
import { link, lstat, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { cleanFileName, markedName } from '../domain/file-name.ts'
import { foldName } from '../domain/sort-key.ts'
import type { PublicClient } from './public-client.ts'

export interface DownloadTarget {
  readonly path: string
  readonly isThere: boolean
}

export interface Places {
  /** Adds a number when the name is taken. Never assigns one twice, whatever the file system's case rules. */
  take(
    folder: string,
    name: string,
    content: { size: number; sha256: string | null },
  ): Promise<DownloadTarget>
  /** Renames the finished file, differently if the name was taken meanwhile. Returns its path. */
  settle(part: string, place: DownloadTarget): Promise<string>
}

export function createPlaces({ force }: { readonly force: boolean }): Places {
  const taken = new Set<string>()
  /** Serialized: two callers must not find one name free. */
  let turn: Promise<unknown> = Promise.resolve()

  async function find(
    folder: string,
    name: string,
    content: { size: number; sha256: string | null },
  ): Promise<DownloadTarget> {
    for (let number = 1; ; number++) {
      const path = join(folder, number === 1 ? name : numberedName(name, number))
      if (taken.has(foldName(path))) continue
      const found = await lstat(path).catch(() => null)
      const isThere = found !== null && (await holds(path, found, content))
      if (found !== null && !isThere && !(force && found.isFile())) continue
      taken.add(foldName(path))
      return { path, isThere }
    }
  }

  return {
    take(folder, name, content) {
      const place = turn.then(() => find(folder, localName(name), content))
      turn = place.catch(() => {})
      return place
    },

    async settle(part, { path }) {
      if (force) {
        await rename(part, path)
        return path
      }
      for (let number = 1; ; number++) {
        const free = number === 1 ? path : join(dirname(path), numberedName(basename(path), number))
        if (await renameNew(part, free)) return free
      }
    },
  }
}

async function holds(
  path: string,
  found: Stats,
  { size, sha256 }: { size: number; sha256: string | null },
): Promise<boolean> {
  if (!found.isFile() || found.size !== size || sha256 === null) return false
  return (await hashFile(path)) === sha256
}

/** False when the name is taken. */
async function renameNew(from: string, to: string): Promise<boolean> {
  try {
    // A hard link, unlike a rename, never replaces a file.
    await link(from, to)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    if (error.code === 'EEXIST') return false
    // The file system has no hard links.
    if ((await lstat(to).catch(() => null)) !== null) return false
    await rename(from, to)
    return true
  }
  await rm(from)
  return true
}

async function hashFile(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const piece of Bun.file(path).stream()) hash.update(piece)
  return hash.digest('hex')
}

const WINDOWS_FORBIDDEN = /[<>:"|?*\\]/g
const WINDOWS_DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i

/** One component, never `.` or `..`, without control characters or names that Windows reserves. */
export function localName(name: string, platform: NodeJS.Platform = process.platform): string {
  const clean = cleanFileName(name)
  if (platform !== 'win32') return clean
  const allowed = clean.replace(WINDOWS_FORBIDDEN, '_').replace(/[. ]+$/, '')
  return WINDOWS_DEVICES.test(allowed) || allowed === '' ? `_${allowed}` : allowed
}

export function numberedName(name: string, number: number): string {
  return markedName(name, ` (${number})`)
}

/** Name of an unfinished download; `tag` identifies the content. */
export function partName(name: string, tag: string): string {
  const suffix = `.${tag}.part`
  return `${shortened(name, MAX_BYTES - suffix.length)}${suffix}`
}

/** The limit of nearly every file system. */
const MAX_BYTES = 255

function shortened(text: string, bytes: number): string {
  const characters = [...text]
  while (Buffer.byteLength(characters.join('')) > bytes) characters.pop()
  return characters.join('')
}

export type Walked =
  | {
      readonly kind: 'file'
      readonly folder: string
      readonly name: string
      readonly slug: string
      readonly size: number
    }
  | { readonly kind: 'failure'; readonly folder: string; readonly error: unknown }
  | { readonly kind: 'folder'; readonly folder: string }

export async function* walkRemoteFolder(
  client: PublicClient,
  identifier: string,
  into: string,
): AsyncGenerator<Walked> {
  const subfolders: string[] = []
  let folder = into
  try {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const contents = await client.folder(identifier, page)
      pages = contents.pages
      folder = join(into, localName(contents.name))
      if (page === 1) yield { kind: 'folder', folder }
      subfolders.push(...contents.folders.map((sub) => sub.identifier))
      for (const { name, slug, size } of contents.files) yield { kind: 'file', folder, name, slug, size }
    }
  } catch (error) {
    yield { kind: 'failure', folder, error }
  }
  for (const subfolder of subfolders) yield* walkRemoteFolder(client, subfolder, folder)
}
