import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** What /proc tells of a running process (proc(5)). Bytes. */
export interface ProcessFigures {
  readonly resident: number
  /** Resident memory at its highest since `resetPeak`. */
  readonly peak: number
  readonly openFiles: number
}

export function processFigures(pid: number): ProcessFigures {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const bytes = (field: string) => {
    const kilobytes = new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]
    if (kilobytes === undefined) throw new Error(`/proc/${pid}/status has no ${field}`)
    return Number(kilobytes) * 1024
  }
  return {
    resident: bytes('VmRSS'),
    peak: bytes('VmHWM'),
    openFiles: readdirSync(`/proc/${pid}/fd`).length,
  }
}

/** Starts the peak again from the memory that is resident now. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** For people: `123.4 MB`, of 1024 × 1024 bytes. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
