/** Makes everything that was written to a file system durable at once, instead of file by file. */
import { spawn } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { release } from 'node:os'
import { StoreFailure } from '../blob-store.ts'

/**
 * Types of file systems, by statfs(2), whose syncfs(2) makes everything durable: ext4, XFS, Btrfs, F2FS, ZFS, bcachefs,
 * overlays and memory. Programs that serve a file system (FUSE) are not told of it.
 */
const SYNCED_AS_A_WHOLE = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x794c7630, 0x01021994,
])
/** The version of Linux since which syncfs tells that writing has failed. */
const TELLS_FAILURES_SINCE = [5, 8] as const

/** Whether `syncFileSystem` works for the folder. It syncs what there is by now. */
export async function isSyncedAsWhole(folder: string): Promise<boolean> {
  if (process.platform !== 'linux' || !isRecent(release())) return false
  if (!SYNCED_AS_A_WHOLE.has(statfsSync(folder).type)) return false
  return syncFileSystem(folder).then(
    () => true,
    () => false,
  )
}

/** Returns once everything on the file system of the folder would survive a power cut. Throws StoreFailure. */
export async function syncFileSystem(folder: string): Promise<void> {
  const problem = await new Promise<string | null>((resolve) => {
    // Of coreutils and of BusyBox: the runtime has no call for it, and it takes as long as the disk does.
    const child = spawn('sync', ['-f', folder], { stdio: 'ignore' })
    child.on('error', ({ message }) => resolve(message))
    child.on('exit', (code, signal) => resolve(code === 0 ? null : `ended with ${code ?? signal}`))
  })
  if (problem === null) return
  throw new StoreFailure('broken', { cause: new Error(`syncing the file system failed: ${problem}`) })
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [least, leastMinor] = TELLS_FAILURES_SINCE
  return major > least || (major === least && minor >= leastMinor)
}
