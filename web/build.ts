/**
 * Builds what the public site is served from into `web/dist`: scripts and styles for browsers, compressed, and the
 * module that renders pages on the server. Nothing is done when the last build was made from the same sources.
 *
 *   bun web/build.ts [--force]
 */
import { join } from 'node:path'
import { isBuiltFrom } from '../src/pages/sources.ts'

const ROOT = join(import.meta.dir, '..')

if (Bun.argv.includes('--force') || !(await isBuiltFrom(ROOT, join(ROOT, 'web/dist/manifest.json')))) {
  process.exitCode = (await build()) ? 0 : 1
}

async function build(): Promise<boolean> {
  try {
    const { buildSite } = await import('./build/site.ts')
    return await buildSite()
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
