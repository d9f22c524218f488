/** Where the program's own files are, whether it runs from its sources or from the bundle that is built of them. */
import { join } from 'node:path'

const IS_BUNDLE = import.meta.path.endsWith('.js')
/** `src`, or the folder of the bundle. */
const TOP = IS_BUNDLE ? import.meta.dir : join(import.meta.dir, '..')

/** The folder of the package or the clone. */
export const ROOT = join(TOP, '..')

/** Files below `src` that are started by themselves: the command line, threads and child processes. */
export const ENTRIES = [
  'cli/program',
  'database/sqlite-reader',
  'contents/copy-thread',
  'thumbnails/image-worker',
  'uploads/hashing/content-hash-worker',
] as const

export function entryPath(entry: (typeof ENTRIES)[number]): string {
  return join(TOP, `${entry}${IS_BUNDLE ? '.js' : '.ts'}`)
}
