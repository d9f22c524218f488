/** Which form of the program runs: the bundle, which starts in half the time, or the sources that it is older than. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Folder of the bundle below the root. */
export const BUNDLE = 'dist'
export const BUNDLE_MANIFEST = 'manifest.json'

/** `files`: what the bundle was built of, with size and time of change of each. */
export interface BundleManifest {
  readonly files: readonly SourceFile[]
}
type SourceFile = readonly [path: string, size: number, changedAt: number]

/** Path of the entry in the bundle; null where there is no bundle, or sources have changed since. */
export function bundledEntry(root: string, entry: string): string | null {
  try {
    const manifest: BundleManifest = JSON.parse(readFileSync(join(root, BUNDLE, BUNDLE_MANIFEST), 'utf8'))
    // In an installed package nothing changes, and times are those of the installation.
    const isClone = existsSync(join(root, 'web/build.ts'))
    const isCurrent = !isClone || manifest.files.every((file) => isUnchanged(root, file))
    return isCurrent ? join(root, BUNDLE, `${entry}.js`) : null
  } catch {
    return null
  }
}

export function sourceFile(root: string, path: string): SourceFile {
  const { size, mtimeMs } = statSync(join(root, path))
  return [path, size, mtimeMs]
}

function isUnchanged(root: string, [path, size, changedAt]: SourceFile): boolean {
  const now = statSync(join(root, path), { throwIfNoEntry: false })
  return now?.size === size && now.mtimeMs === changedAt
}
