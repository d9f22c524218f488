/** Open files of a process, from /proc. */
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Paths of open files, and descriptions of other descriptors; that of a deleted file ends with ` (deleted)`.
 */
export function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)]
    } catch {
      // Closed since the listing.
      return []
    }
  })
}

/** Number of blobs of the data folder, finished or not, that the process has open. */
export function openBlobs(pid: number, dataDir: string): number {
  return openFiles(pid).filter((target) => target.startsWith(join(dataDir, 'blobs'))).length
}
