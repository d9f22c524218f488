import type { Database } from '../database/database.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { isoDay } from '../domain/days.ts'
import { outageRefusal } from './failures.ts'
import { addTraffic, type Traffic } from './figures.rows.ts'

/** Counts traffic per day in memory, written every ten seconds; a killed process loses the rest. */
export interface TrafficCounter {
  requested(): void
  received(bytes: number): void
  sent(bytes: number): void
  uploaded(): void
  downloaded(count: 1 | -1): void
  /** Resolves when all counts are written. An outage delays them to the next flush; a rejected row is dropped. */
  flush(): Promise<void>
}

const NONE: Traffic = { requests: 0, bytes_in: 0, bytes_out: 0, uploads: 0, downloads: 0 }

export function createTrafficCounter(db: Database, clock: Clock): TrafficCounter {
  let day = Math.floor(clock.now() / DAY)
  let counted = { ...NONE }
  const waiting: { readonly day: string; readonly traffic: Traffic }[] = []
  let writing = Promise.resolve()

  function setAside(): void {
    if (Object.values(counted).some((number) => number > 0))
      waiting.push({ day: isoDay(day * DAY, 'UTC'), traffic: counted })
    counted = { ...NONE }
  }

  function add(what: keyof Traffic, number: number): void {
    const today = Math.floor(clock.now() / DAY)
    if (today !== day) {
      setAside()
      day = today
    }
    counted[what] += number
  }

  async function write(): Promise<void> {
    setAside()
    const refused: unknown[] = []
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      try {
        await addTraffic(db, next.day, next.traffic)
      } catch (error) {
        if (outageRefusal(error) !== null) throw error
        refused.push(error)
      }
      waiting.shift()
    }
    if (refused.length > 0) throw new AggregateError(refused, 'traffic was counted that cannot be written')
  }

  return {
    requested: () => add('requests', 1),
    received: (bytes) => add('bytes_in', bytes),
    sent: (bytes) => add('bytes_out', bytes),
    uploaded: () => add('uploads', 1),
    downloaded: (count) => add('downloads', count),

    flush() {
      const written = writing.then(write)
      writing = written.catch(() => {})
      return written
    },
  }
}
