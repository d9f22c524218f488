/** What a process holds open, as Linux tells it. */
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Paths of open files, and other words for what is no file; one that was removed ends in ` (deleted)`. */
export function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)]
    } catch {
      // Closed between the listing and the look.
      return []
    }
  })
}

/** How many blobs of the data folder, finished or not, the process holds open. */
export function openBlobs(pid: number, dataDir: string): number {
  return openFiles(pid).filter((target) => target.startsWith(join(dataDir, 'blobs'))).length
}
