/** Private temporary folders: their rows contain secrets. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasProcessEnded, ownProcess } from './own-process.ts'

const NAME = 'holdfast-scratch-'

/** First removes those of killed runs. */
export async function makeScratch(folder = tmpdir()): Promise<string> {
  for (const name of await readdir(folder)) {
    const owner = name.startsWith(NAME) ? (name.slice(NAME.length).split('-')[0] ?? null) : null
    if (hasProcessEnded(owner)) await rm(join(folder, name), { recursive: true, force: true })
  }
  return mkdtemp(join(folder, `${NAME}${ownProcess() ?? 'unknown'}-`))
}
