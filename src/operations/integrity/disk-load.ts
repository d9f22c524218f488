import { MINUTE, SECOND, sleep, type Timers } from '../../domain/clock.ts'
import type { DiskPressure } from './disk-pressure.ts'

/** From this pressure on the disk counts as busy. */
export const BUSY = 0.25
const FRESH_FOR = SECOND
const ASKED_EVERY = SECOND
const PATIENCE = MINUTE
/** The job that waits comes back within a minute. */
const REMEMBERED_FOR = 2 * MINUTE

/** Whether stored bytes can be read again without disturbing anybody. */
export interface DiskLoad {
  /** As `DiskPressure`; null also where stored bytes are on another machine. */
  readonly pressure: DiskPressure
  isBusy(): Promise<boolean>
  /** Waits while the disk is busy. False when `mayGoOn` returned false, or when it was busy for a minute. */
  quiet(mayGoOn: () => boolean): Promise<boolean>
  /** Whether bytes that were to be read are not, because the disk is busy. */
  isWaitedFor(): boolean
}

/** The disk is asked once a second at most. Without a known pressure it never counts as busy. */
export function createDiskLoad(pressure: DiskPressure, timers: Timers): DiskLoad {
  let last: { readonly at: number; readonly isBusy: Promise<boolean> } | null = null
  let waitedAt: number | null = null

  async function ask(): Promise<boolean> {
    return ((await pressure()) ?? 0) >= BUSY
  }

  function isBusy(): Promise<boolean> {
    const now = timers.monotonic()
    if (last === null || now - last.at >= FRESH_FOR) last = { at: now, isBusy: ask() }
    return last.isBusy
  }

  return {
    pressure,
    isBusy,
    async quiet(mayGoOn) {
      const began = timers.monotonic()
      for (;;) {
        const isQuiet = !(await isBusy())
        const now = timers.monotonic()
        waitedAt = isQuiet ? null : now
        if (isQuiet) return true
        if (now - began >= PATIENCE || !mayGoOn()) return false
        await sleep(timers, ASKED_EVERY)
      }
    },
    isWaitedFor: () => waitedAt !== null && timers.monotonic() - waitedAt < REMEMBERED_FOR,
  }
}
