/** A file system of its own that can lose its power: what was not synced until then is gone. */
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { patient } from '../patience.ts'
import { temporaryFolder } from '../processes/child.ts'
import { type Tool, toolPath } from '../processes/tools.ts'

/** Both have a way to stop at once: nothing that is still in memory gets to the disk, neither bytes nor their log. */
export const FILE_SYSTEMS = ['ext4', 'xfs'] as const
export type FileSystem = (typeof FILE_SYSTEMS)[number]

export const POWER_CUT_TOOLS: readonly Tool[] = ['mkfs.ext4', 'mkfs.xfs', 'xfs_io']

/** How each is made: as it is by default, without a word. */
const MAKING = { ext4: ['mkfs.ext4', '-q', '-F'], xfs: ['mkfs.xfs', '-q', '-f'] } as const

/** The smallest that mkfs.xfs makes. Sparse: it takes what is written to it. */
const SIZE = 300 * 1024 * 1024

export interface VolatileDisk extends Disposable {
  /** The root of the file system; empty at first. */
  readonly path: string
  /** From now on nothing reaches the disk, and whoever tries fails. */
  cut(): void
  /** The disk as it was at the cut. Nobody may have a file of it open. */
  comeBack(): void
}

/** Why there can be no such disk; null when there can. */
export function whyNoPowerCuts(): string | null {
  return process.getuid?.() === 0 ? null : 'only root can mount a disk'
}

export function volatileDisk(kind: FileSystem): VolatileDisk {
  // Outside of what tests may have in memory: a loop device needs a file that takes direct writes.
  const folder = temporaryFolder(tmpdir())
  const image = join(folder.path, 'image')
  const path = join(folder.path, 'disk')
  writeFileSync(image, '')
  truncateSync(image, SIZE)
  mkdirSync(path)
  let isMounted = false
  const mount = () => {
    run('mount', '-t', kind, '-o', 'loop', image, path)
    isMounted = true
  }
  const unmount = () => {
    if (isMounted) runUntilFree('umount', path)
    isMounted = false
  }
  const [program, ...options] = MAKING[kind]
  run(toolPath(program) ?? program, ...options, image)
  mount()
  return {
    path,
    cut: () => run(toolPath('xfs_io') ?? 'xfs_io', '-x', '-c', 'shutdown', path),
    comeBack() {
      unmount()
      mount()
    },
    [Symbol.dispose]() {
      unmount()
      rmSync(image, { force: true })
      folder[Symbol.dispose]()
    },
  }
}

/** What was killed keeps its files open until the kernel has closed them. */
function runUntilFree(...command: readonly string[]): void {
  const end = performance.now() + patient(20)
  for (;;) {
    try {
      run(...command)
      return
    } catch (error) {
      if (performance.now() > end || !String(error).includes('busy')) throw error
      Bun.sleepSync(20)
    }
  }
}

function run(...command: readonly string[]): void {
  const { success, stderr } = Bun.spawnSync([...command], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  if (!success) throw new Error(`${command.join(' ')} failed: ${stderr.toString()}`)
}
