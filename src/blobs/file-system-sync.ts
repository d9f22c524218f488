import { spawn } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { release } from 'node:os'
import { StoreFailure } from './blob-store.ts'

/** statfs(2) types whose syncfs(2) makes everything durable; FUSE does not. */
const SYNCED_AS_A_WHOLE = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x794c7630, 0x01021994,
])
/** Linux version since which syncfs reports write errors. */
const TELLS_FAILURES_SINCE = [5, 8] as const

export async function isSyncedAsWhole(folder: string): Promise<boolean> {
  if (process.platform !== 'linux' || !isRecent(release())) return false
  if (!SYNCED_AS_A_WHOLE.has(statfsSync(folder).type)) return false
  return syncFileSystem(folder).then(
    () => true,
    () => false,
  )
}

/** Returns once everything on the folder's file system would survive a power cut. Throws StoreFailure. */
export async function syncFileSystem(folder: string): Promise<void> {
  const problem = await new Promise<string | null>((resolve) => {
    // coreutils and BusyBox have it, the runtime has no call. The disk dominates its time.
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
