import { readFileSync, writeFileSync } from 'node:fs'

/** What a process and everything it started has used. */
export interface Usage {
  /** User and system time since the start, seconds. The kernel counts in steps of 10 ms. */
  readonly cpuSeconds: number
  /** Resident memory at its highest since `resetPeak`, bytes, summed over the processes. */
  readonly peakBytes: number
}

/** Ticks of /proc/<pid>/stat a second: 100 on every Linux that Bun runs on. */
const TICKS = 100

/** The use of a process and all its descendants, as /proc tells it (proc(5)). */
export function usage(pid: number): Usage {
  let cpuSeconds = 0
  let peakBytes = 0
  for (const member of family(pid)) {
    const stat = readFileSync(`/proc/${member}/stat`, 'latin1')
    // The name in parentheses may hold spaces; utime and stime, of the process and of its waited-for children, are
    // fields 14 to 17, and the first after the name is field 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    cpuSeconds += ticks / TICKS
    const peak = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${member}/status`, 'latin1'))?.[1]
    peakBytes += Number(peak ?? 0) * 1024
  }
  return { cpuSeconds, peakBytes }
}

/** Starts the peak again from the memory that is resident now. */
export function resetPeak(pid: number): void {
  for (const member of family(pid)) writeFileSync(`/proc/${member}/clear_refs`, '5')
}

function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean)
  return [pid, ...children.flatMap((child) => family(Number(child)))]
}
