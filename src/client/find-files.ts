import { readdir, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { FoundFile } from './local-file.ts'

export type FoundEntry =
  | { readonly kind: 'file'; readonly folders: readonly string[]; readonly file: FoundFile }
  | { readonly kind: 'folder'; readonly folders: readonly string[] }
  | { readonly kind: 'failure'; readonly shown: string; readonly error: unknown }

/**
 * Follows links inside folders to files, not to folders, which may be ancestors. Calls `left` for what is
 * neither. An unreadable path becomes a failure; the others are found.
 */
export async function* findFiles(
  paths: readonly string[],
  left: (shown: string) => void,
): AsyncGenerator<FoundEntry> {
  for (const path of paths) {
    const found = await attempt(path, stat(path))
    if ('error' in found) yield found
    else if (found.isDirectory()) {
      yield* below(
        path,
        [basename(resolve(path))].filter((name) => name !== ''),
      )
    } else if (found.isFile()) yield { kind: 'file', folders: [], file: toFile(path, found) }
    else left(path)
  }

  async function* below(folder: string, folders: readonly string[]): AsyncGenerator<FoundEntry> {
    const entries = await attempt(folder, readdir(folder, { withFileTypes: true }))
    if ('error' in entries) {
      yield entries
      return
    }
    if (entries.length === 0) yield { kind: 'folder', folders }
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        yield* below(path, [...folders, entry.name])
        continue
      }
      const found = await attempt(path, stat(path))
      if ('error' in found) yield found
      else if (found.isFile()) yield { kind: 'file', folders, file: toFile(path, found) }
      else left(path)
    }
  }
}

async function attempt<T extends object>(
  path: string,
  reading: Promise<T>,
): Promise<T | Extract<FoundEntry, { kind: 'failure' }>> {
  try {
    return await reading
  } catch (error) {
    return { kind: 'failure', shown: path, error }
  }
}

function toFile(
  path: string,
  found: { readonly size: number; readonly mtimeMs: number; readonly dev: number; readonly ino: number },
): FoundFile {
  const absolute = resolve(path)
  return {
    shown: path,
    path: absolute,
    name: basename(absolute),
    size: found.size,
    changedAt: found.mtimeMs,
    inode: `${found.dev}:${found.ino}`,
  }
}
