/** A disk that a test can fill to its last page. */
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  readonly path: string
  /** Writes a file until not one page is left; returns what takes it away again. */
  fill(): () => void
  [Symbol.dispose](): void
}

const PAGE = 4096

/** An empty disk of its own, held in memory; it is unmounted when it goes out of scope. Throws when it cannot be mounted. */
export function smallDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-disk-'))
  const failure = mount(path, megabytes)
  if (failure !== null) {
    rmdirSync(path)
    throw new Error(failure)
  }
  const unmount = () => {
    // Lazily: a database that is still open must not keep the disk.
    Bun.spawnSync(['umount', '--lazy', path])
    rmdirSync(path)
    process.off('exit', unmount)
  }
  process.on('exit', unmount)
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
    [Symbol.dispose]: unmount,
  }
}

/** What stands in the way of mounting a small disk, or null. */
export function whyNoSmallDisk(): string | null {
  if (process.getuid?.() !== 0) return 'only root may mount a small disk'
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
