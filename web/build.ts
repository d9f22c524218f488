/**
 * Builds what the public site is served from into `web/dist`: scripts and styles for browsers, compressed, and the
 * module that renders pages on the server; and the program, in few files, into `dist`. What was built from the same sources
 * is left as it is.
 *
 *   bun web/build.ts [--force]
 */
import { join } from 'node:path'
import { isBuiltFrom } from '../src/pages/built-site.ts'
import { bundledEntry } from '../src/program/bundle.ts'
import { ENTRIES } from '../src/program/entries.ts'

const ROOT = join(import.meta.dir, '..')

const isForced = Bun.argv.includes('--force')
const needsSite = isForced || !(await isBuiltFrom(ROOT, join(ROOT, 'web/dist/manifest.json')))
const needsProgram = isForced || bundledEntry(ROOT, ENTRIES[0]) === null
// Nothing in it is secret, and a server that root starts, which builds it first, lets nobody read what it makes.
process.umask(0o022)
process.exitCode = (await build()) ? 0 : 1

async function build(): Promise<boolean> {
  try {
    if (needsProgram) await (await import('./build/program.ts')).bundleProgram()
    return !needsSite || (await (await import('./build/site.ts')).buildSite())
  } catch (error) {
    console.error(error)
    if (isPackageMissing(error)) {
      console.error(
        'error: the site is built with all packages: "npm ci", and "npm prune --omit=dev" afterwards',
      )
    }
    return false
  }
}

function isPackageMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
}
