/**
 * Temporary folders in memory for tests that do not depend on the disk: syncing would take most of their
 * time.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SHARED_MEMORY = '/dev/shm'
/** Followed by the id of the process that owns the folder. */
const NAME = 'holdfast-test-run-'
/** Minimum free bytes. */
const ENOUGH = 4 * 1024 ** 3

export interface TestFolders {
  /** TMPDIR for test files. */
  of(files: { readonly onDisk: boolean }): string
  /** TMPDIR for the servers that all files share. */
  readonly forServers: string
  remove(): void
}

export function testFolders(): TestFolders {
  removeLeftovers()
  const memory = hasRoom() ? mkdtempSync(join(SHARED_MEMORY, `${NAME}${process.pid}-`)) : null
  // PostgreSQL runs as a user of its own.
  if (memory !== null) chmodSync(memory, 0o711)
  return {
    of: ({ onDisk }) => (memory === null || onDisk ? tmpdir() : memory),
    forServers: memory ?? tmpdir(),
    remove() {
      if (memory !== null) rmSync(memory, { recursive: true, force: true })
    },
  }
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY)
    return bavail * bsize >= ENOUGH
  } catch {
    return false
  }
}

/** Deletes folders of runs that were killed. */
function removeLeftovers(): void {
  if (!existsSync(SHARED_MEMORY)) return
  for (const name of readdirSync(SHARED_MEMORY)) {
    const [, pid] = new RegExp(`^${NAME}(\\d+)-`).exec(name) ?? []
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) {
      rmSync(join(SHARED_MEMORY, name), { recursive: true, force: true })
    }
  }
}
