import { existsSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { ROOT } from './entries.ts'

let found: string | undefined

/**
 * The release and the commit that it was built of, such as `0.1.0+3174d472a0c1`: the form of build metadata in SemVer, which
 * does not matter for precedence. The release alone where no commit is known. For who runs the server; nothing that a
 * stranger may ask for contains it (docs/decisions/runtime.md).
 */
export function versionWithCommit(): string {
  // A bundle has the commit written into it; the sources of a clone ask git, once.
  found ??= [manifest.version, process.env.BUILD_COMMIT ?? commitOf(ROOT)].filter(Boolean).join('+')
  return found
}

/** What is checked out in the folder, 12 digits; '' where it is no clone, or git cannot tell. */
export function commitOf(root: string): string {
  // A package may be installed below a clone of something else.
  if (!existsSync(join(root, '.git'))) return ''
  try {
    const { stdout, success } = Bun.spawnSync(['git', 'rev-parse', '--short=12', 'HEAD'], {
      cwd: root,
      stderr: 'ignore',
    })
    return success ? stdout.toString().trim() : ''
  } catch {
    return ''
  }
}
