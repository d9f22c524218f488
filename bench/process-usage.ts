import { readFileSync, writeFileSync } from 'node:fs'

/** What processes and everything they started have used. */
export interface Usage {
  /** User and system time since the start, seconds. The kernel counts in steps of 10 ms. */
  readonly cpuSeconds: number
  /** Resident memory at its highest since `resetPeak`, bytes, summed over the processes. */
  readonly peakBytes: number
}

/** Ticks of /proc/<pid>/stat a second: 100 on every Linux that Bun runs on. */
const TICKS = 100

/** The use of processes and all their descendants, as /proc tells it (proc(5)). */
export function usage(pids: readonly number[]): Usage {
  let cpuSeconds = 0
  let peakBytes = 0
  for (const member of pids.flatMap(family)) {
    const stat = told(member, 'stat')
    if (stat === null) continue
    // The name in parentheses may hold spaces; utime and stime, of the process and of its waited-for children, are
    // fields 14 to 17, and the first after the name is field 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    cpuSeconds += ticks / TICKS
    const peak = /^VmHWM:\s*(\d+) kB/m.exec(told(member, 'status') ?? '')?.[1]
    peakBytes += Number(peak ?? 0) * 1024
  }
  return { cpuSeconds, peakBytes }
}

/** Starts the peak again from the memory that is resident now. */
export function resetPeak(pids: readonly number[]): void {
  for (const member of pids.flatMap(family)) writeFileSync(`/proc/${member}/clear_refs`, '5')
}

function family(pid: number): number[] {
  const children = (told(pid, `task/${pid}/children`) ?? '').split(' ').filter(Boolean)
  return [pid, ...children.flatMap((child) => family(Number(child)))]
}

/** Null when the process has ended: PostgreSQL's come and go, and what they used is then their parent's. */
function told(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return null
    throw error
  }
}
