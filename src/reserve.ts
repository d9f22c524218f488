import { randomBytes } from 'node:crypto'
import { open, rm, stat, statfs, truncate } from 'node:fs/promises'
import { join } from 'node:path'

const MIB = 1024 * 1024

/** Bytes that are kept back: half of them are what SQLite's log grows to before it is used anew. */
const MOST = 32 * MIB
/** Share of `HOLDFAST_MIN_FREE_SPACE`, where that is small. */
const SHARE = 8
/** With less than this free, hardly a change can be written any more. */
const LOW = 8 * MIB

/**
 * A file that only takes space on the disk under SQLite: deleting a file has to write before it frees anything. A server that
 * sees its disk run full gives up half of the reserve; whoever opens the data folder of a full disk gives up the rest, so
 * that a start succeeds where another program has taken the first half.
 */
export interface Reserve {
  /** Gives up half of the reserve on a full disk, or writes it again once there is room. Returns whether it is whole. */
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

/** Removes what there is of the reserve of a data folder, if its disk is full. A folder that can only be read keeps it. */
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

/** Random bytes, which no file system can store in less. */
async function write(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    for (let left = bytes; left > 0; left -= MIB) await file.write(randomBytes(Math.min(left, MIB)))
    await file.datasync()
  } finally {
    await file.close()
  }
}
