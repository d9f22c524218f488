/** A copy of the working tree in which files may be spoiled. */
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../support/processes/child.ts'
import { type Change, changed } from './change.ts'

const REPOSITORY = join(import.meta.dir, '../..')

export interface Scratch extends Disposable {
  readonly path: string
  /** Runs the work with the change in its file. */
  withChange<T>(change: Change, work: () => Promise<T>): Promise<T>
}

/** What git knows or would take, the site as it was built, and a link to the packages. */
export function scratchCopy(): Scratch {
  const folder = temporaryFolder()
  const listed = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: REPOSITORY,
  })
  for (const file of listed.stdout.toString().split('\0')) {
    // Pictures are most of the bytes, and files that were deleted are still listed.
    if (file === '' || file.startsWith('docs/images/') || !existsSync(join(REPOSITORY, file))) continue
    mkdirSync(dirname(join(folder.path, file)), { recursive: true })
    cpSync(join(REPOSITORY, file), join(folder.path, file))
  }
  cpSync(join(REPOSITORY, 'web/dist'), join(folder.path, 'web/dist'), { recursive: true })
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder.path, 'node_modules'))
  return {
    path: folder.path,
    async withChange(change, work) {
      const path = join(folder.path, change.file)
      const text = readFileSync(path, 'utf8')
      writeFileSync(path, changed(text, change))
      try {
        return await work()
      } finally {
        writeFileSync(path, text)
      }
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}
