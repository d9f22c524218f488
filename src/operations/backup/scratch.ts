/** Folders for what one run alone needs. They hold rows with secrets, so nobody else may read them. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasProcessEnded, ownProcess } from './own-process.ts'

const NAME = 'holdfast-scratch-'

/** Makes one inside the folder, after it has removed those of runs that were killed. */
export async function makeScratch(folder = tmpdir()): Promise<string> {
  for (const name of await readdir(folder)) {
    const owner = name.startsWith(NAME) ? (name.slice(NAME.length).split('-')[0] ?? null) : null
    if (hasProcessEnded(owner)) await rm(join(folder, name), { recursive: true, force: true })
  }
  return mkdtemp(join(folder, `${NAME}${ownProcess() ?? 'unknown'}-`))
}
