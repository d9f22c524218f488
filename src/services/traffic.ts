import { addTraffic, type Traffic } from '../database/days.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, timestamp } from '../domain/clock.ts'

/**
 * What this node does, day by day: counted in memory and written every ten seconds. A process that is killed loses what
 * it has counted since.
 */
export interface TrafficCounter {
  requested(): void
  /** Bytes of bodies. */
  received(bytes: number): void
  sent(bytes: number): void
  uploaded(): void
  downloaded(): void
  flush(): Promise<void>
}

const NONE: Traffic = { requests: 0, bytes_in: 0, bytes_out: 0, uploads: 0, downloads: 0 }

export function createTrafficCounter(db: Db, clock: Clock): TrafficCounter {
  let day = dayOf(clock.now())
  let counted = { ...NONE }
  /** Of days that are over, and what could not be written. */
  let waiting: { readonly day: string; readonly traffic: Traffic }[] = []

  function setAside(): void {
    if (Object.values(counted).some((number) => number > 0)) waiting.push({ day, traffic: counted })
    counted = { ...NONE }
  }

  function add(what: keyof Traffic, number: number): void {
    const today = dayOf(clock.now())
    if (today !== day) {
      setAside()
      day = today
    }
    counted[what] += number
  }

  return {
    requested: () => add('requests', 1),
    received: (bytes) => add('bytes_in', bytes),
    sent: (bytes) => add('bytes_out', bytes),
    uploaded: () => add('uploads', 1),
    downloaded: () => add('downloads', 1),

    async flush() {
      setAside()
      const taken = waiting
      waiting = []
      for (const [at, { day, traffic }] of taken.entries()) {
        try {
          await addTraffic(db, day, traffic)
        } catch (error) {
          waiting.unshift(...taken.slice(at))
          throw error
        }
      }
    },
  }
}

/** The day in UTC, as ISO 8601 writes it. */
export function dayOf(time: number): string {
  return timestamp(time).slice(0, 10)
}
