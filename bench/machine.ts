import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { GIB } from './measure.ts'

/** General description of the machine: enough to interpret the results, without identifying it. */
export function describeMachine(folder: string): string[] {
  return [
    `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / GIB)} GiB of memory`,
    `Linux ${release().split('-')[0]}, Bun ${Bun.version}`,
    `disk: ${describeDisk(folder)}`,
  ]
}

/** Free bytes for an ordinary user in the folder. */
export function freeDiskSpace(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

function describeDisk(folder: string): string {
  const mount = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter((fields) => holds(fields[4] ?? '', folder))
    .toSorted((a, b) => (a[4] ?? '').length - (b[4] ?? '').length)
    .at(-1)
  if (mount === undefined) return 'unknown'
  const separator = mount.indexOf('-')
  const system = mount[separator + 1] ?? 'unknown file system'
  const device = basename(mount[separator + 2] ?? '')
  if (system === 'tmpfs') return 'memory (tmpfs): a sync costs nothing here, so the uploads say little'
  return `${kindOf(device)}, ${system}`
}

function holds(mountPoint: string, folder: string): boolean {
  return folder === mountPoint || folder.startsWith(mountPoint.endsWith('/') ? mountPoint : `${mountPoint}/`)
}

function kindOf(device: string): string {
  if (device.startsWith('vd')) return 'virtual disk (virtio)'
  if (device.startsWith('nvme')) return 'NVMe'
  const rotational = join('/sys/class/block', device.replace(/\d+$/, ''), 'queue/rotational')
  if (!existsSync(rotational)) return 'unknown kind of disk'
  return readFileSync(rotational, 'utf8').trim() === '1' ? 'rotating disk' : 'solid state'
}
