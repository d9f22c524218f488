import { readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Private temporary folders: their rows contain secrets. */

const NAME = 'holdfast-scratch-'

export interface Scratch extends AsyncDisposable {
  readonly path: string
}

/** Removes those of killed runs first, and this one when disposed. */
export async function makeScratch(folder = tmpdir()): Promise<Scratch> {
  for (const name of await readdir(folder)) {
    const owner = name.startsWith(NAME) ? (name.slice(NAME.length).split('-')[0] ?? null) : null
    if (hasProcessEnded(owner)) await rm(join(folder, name), { recursive: true, force: true })
  }
  const path = await mkdtemp(join(folder, `${NAME}${ownProcess() ?? 'unknown'}-`))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Boot id and namespace of process ids; null where the system does not tell. */
function place(): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().replaceAll('-', '')
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]
    return namespace === undefined ? null : `${boot}.${namespace}`
  } catch {
    return null
  }
}

export function ownProcess(): string | null {
  const here = place()
  return here === null ? null : `${here}.${process.pid}`
}

/** False also when unknown. */
export function hasProcessEnded(text: string | null): boolean {
  const here = place()
  if (text === null || here === null || !text.startsWith(`${here}.`)) return false
  const pid = Number(text.slice(here.length + 1))
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    // EPERM: alive, of another user.
    return !(error instanceof Error && 'code' in error && error.code === 'EPERM')
  }
}
