import { randomBytes } from 'node:crypto'
import { open, rm, stat, statfs, truncate } from 'node:fs/promises'
import { join } from 'node:path'

const MIB = 1024 * 1024

/** Bytes; half is the size at which SQLite reuses its log. */
const MOST = 32 * MIB
/** Divisor of `HOLDFAST_MIN_FREE_SPACE`, where that is small. */
const SHARE = 8
/** With less free, hardly a change can be written. */
const LOW = 8 * MIB

/**
 * A file that reserves disk space for SQLite: a deletion writes before it frees anything. A server frees half of the
 * reserve on a full disk; opening the data folder of a full disk frees the rest, so that a start succeeds after another
 * program has taken the first half.
 */
export interface Reserve {
  /** Frees half on a full disk, or rewrites it when there is space. Returns whether it is whole. */
  tend(): Promise<boolean>
}

export function createReserve(folder: string, floor: number): Reserve {
  const bytes = Math.min(MOST, Math.floor(floor / SHARE))
  const half = Math.floor(bytes / 2)
  const path = reserveIn(folder)
  return {
    async tend() {
      const free = await freeIn(folder)
      const size = (await stat(path).catch(() => null))?.size ?? 0
      if (free < LOW && size > half) {
        await truncate(path, half)
        return false
      }
      if (size === bytes || free < 2 * LOW + bytes) return size === bytes
      await write(path, bytes)
      return true
    },
  }
}

/** Only on a full disk. A read-only folder keeps it. */
export async function giveUpReserve(folder: string): Promise<void> {
  if ((await freeIn(folder)) >= LOW) return
  await rm(reserveIn(folder), { force: true }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EROFS')) throw error
  })
}

const reserveIn = (folder: string) => join(folder, 'reserve')

async function freeIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Random bytes, which no file system compresses. */
async function write(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    for (let left = bytes; left > 0; left -= MIB) await file.write(randomBytes(Math.min(left, MIB)))
    await file.datasync()
  } finally {
    await file.close()
  }
}
