import { readFileSync, writeFileSync } from 'node:fs'

/** Resources used by processes and their descendants. */
export interface ProcessUsage {
  /** User and system time since the start in seconds. The kernel's resolution is 10 ms. */
  readonly cpuSeconds: number
  /** Peak resident memory since `resetPeak` in bytes, summed over the processes. */
  readonly peakBytes: number
}

/** Clock ticks per second in /proc/<pid>/stat: 100 on every Linux that Bun supports. */
const TICKS = 100

/** Resources used by processes and their descendants, from /proc (proc(5)). */
export function usage(pids: readonly number[]): ProcessUsage {
  let cpuSeconds = 0
  let peakBytes = 0
  for (const member of pids.flatMap(family)) {
    const stat = told(member, 'stat')
    if (stat === null) continue
    // The name in parentheses may contain spaces; utime and stime, of the process and of its reaped children,
    // are fields 14 to 17, and the first field after the name is 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    cpuSeconds += ticks / TICKS
    const peak = /^VmHWM:\s*(\d+) kB/m.exec(told(member, 'status') ?? '')?.[1]
    peakBytes += Number(peak ?? 0) * 1024
  }
  return { cpuSeconds, peakBytes }
}

/** Resets the peak to the currently resident memory. */
export function resetPeak(pids: readonly number[]): void {
  for (const member of pids.flatMap(family)) writeFileSync(`/proc/${member}/clear_refs`, '5')
}

function family(pid: number): number[] {
  const children = (told(pid, `task/${pid}/children`) ?? '').split(' ').filter(Boolean)
  return [pid, ...children.flatMap((child) => family(Number(child)))]
}

/**
 * Null when the process has ended: PostgreSQL's backends come and go, and their usage is then added to their
 * parent's.
 */
function told(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return null
    throw error
  }
}
