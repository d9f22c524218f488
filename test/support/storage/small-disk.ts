/** A small disk that a test can fill completely. */
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  readonly path: string
  /** Fills the disk to the last page; the returned function deletes the file again. */
  fill(): () => void
  [Symbol.dispose](): void
}

const PAGE = 4096

/** An empty file system in memory, unmounted when it goes out of scope. Throws when it cannot be mounted. */
export function smallDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), `holdfast-disk-${process.pid}-`))
  const failure = mount(path, megabytes)
  if (failure !== null) {
    rmdirSync(path)
    throw new Error(failure)
  }
  let fillers = 0
  return {
    path,
    fill() {
      const filler = join(path, `filler-${++fillers}`)
      const file = openSync(filler, 'w')
      const page = new Uint8Array(PAGE)
      try {
        for (;;) writeSync(file, page)
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      } finally {
        closeSync(file)
      }
      return () => rmSync(filler, { force: true })
    },
    [Symbol.dispose]: () => unmount(path),
  }
}

/** Why no small disk can be mounted, or null. */
export function whyNoSmallDisk(): string | null {
  if (process.getuid?.() !== 0) return 'only root may mount a small disk'
  unmountLeftovers()
  try {
    smallDisk(1)[Symbol.dispose]()
    return null
  } catch (error) {
    return `this root may not mount a small disk: ${error instanceof Error ? error.message : error}`
  }
}

function mount(path: string, megabytes: number): string | null {
  try {
    const size = `size=${megabytes}m`
    const { exitCode, stderr } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', size, 'tmpfs', path])
    return exitCode === 0 ? null : `mount ended with ${exitCode}: ${stderr.toString().trim()}`
  } catch (error) {
    return `mount could not be run: ${error}`
  }
}

function unmount(path: string): void {
  // Lazily, because an open database or a dying server may still use the disk.
  Bun.spawnSync(['umount', '--lazy', path])
  rmdirSync(path)
}

/** Tests that were killed leave their disks mounted, and `bun test` does not announce its end. */
function unmountLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = /^holdfast-disk-(\d+)-/.exec(name)?.[1]
    if (owner === undefined || existsSync(`/proc/${owner}`)) continue
    try {
      unmount(join(tmpdir(), name))
    } catch {
      // Another run may unmount it at the same time.
    }
  }
}
