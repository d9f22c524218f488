import { readFile } from 'node:fs/promises'
import { unlessAborted } from '../domain/abort.ts'
import { MINUTE, SECOND, sleep, type Timers } from '../domain/clock.ts'

export type Throttle = (bytes: number) => Promise<void>

/** Average bytes a second, shared by all callers; unused rate is not saved. Throws the signal's reason at once. */
export function createThrottle(bytesPerSecond: number, timers: Timers, signal?: AbortSignal): Throttle {
  let free = timers.monotonic()
  return async (bytes) => {
    const now = timers.monotonic()
    free = Math.max(free, now) + (bytes * SECOND) / bytesPerSecond
    if (signal === undefined) return sleep(timers, free - now)
    const over = Promise.withResolvers<void>()
    const cancel = timers.after(free - now, over.resolve)
    await unlessAborted(signal, over.promise).finally(cancel)
  }
}

export const BUSY = 0.25
const FRESH_FOR = SECOND
const ASKED_EVERY = SECOND
const PATIENCE = MINUTE
/** A waiting job comes back within a minute. */
const REMEMBERED_FOR = 2 * MINUTE

export interface DiskLoad {
  /** Null also where stored bytes are on another machine. */
  readonly pressure: DiskPressure
  isBusy(): Promise<boolean>
  /** Waits while the disk is busy. False when `mayGoOn` returned false, or after a busy minute. */
  quiet(mayGoOn: () => boolean): Promise<boolean>
  isWaitedFor(): boolean
}

/** Samples once a second at most. Without a known pressure the disk never counts as busy. */
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

/** Share (0 to 1) of the last ten seconds in which work here waited for a disk; null where the system does not tell. */
export type DiskPressure = () => Promise<number | null>

const TEN_SECONDS = /^some avg10=(\d+(?:\.\d+)?) /

/** Linux (`Documentation/accounting/psi.rst`). Kernels without PSI, and other systems, lack the file. */
export async function linuxDiskPressure(file = '/proc/pressure/io'): Promise<number | null> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const percent = TEN_SECONDS.exec(text)?.[1]
  return percent === undefined ? null : Number(percent) / 100
}
