import type { Core } from '../../core/core.ts'
import type { BlobId } from '../../domain/ids.ts'
import { confirmed } from './inspection.ts'
import { findContent } from './integrity.rows.ts'
import { readDamage } from './reading.ts'
import { markFound } from './scrub.ts'
import { createThrottle } from './throttle.ts'

/** Further contents are added at their next download. */
const MOST_WAITING = 100

/** Reads contents that a download found wrong again, one at a time, at HOLDFAST_SCRUB_RATE; marks damaged ones. */
export function createSuspectQueue(core: Core): { add(content: BlobId): void } {
  const { db, blobs, clock, shutdown, config, failed } = core
  const stop = new AbortController()
  const throttle = createThrottle(config.scrubRate, clock.timers, stop.signal)
  const report = failed('a content that looked damaged could not be read again')
  const waiting = new Set<BlobId>()
  let working: Promise<void> | null = null

  async function look(id: BlobId): Promise<void> {
    const content = await findContent(db, id)
    if (content === undefined || content.damage !== null) return
    const seen = await confirmed(core, content, (row) => readDamage(blobs, row, throttle))
    if (seen !== null && seen.damage !== null) await markFound(core, { ...seen, damage: seen.damage })
  }

  async function work(): Promise<void> {
    for (const id of waiting) {
      if (stop.signal.aborted) break
      await look(id).catch((error: unknown) => {
        if (!stop.signal.aborted) report(error)
      })
      waiting.delete(id)
    }
    working = null
  }

  shutdown.add('reading contents that look damaged', async () => {
    stop.abort(new Error('the server stops'))
    await working
  })
  return {
    add(content) {
      if (waiting.size >= MOST_WAITING) return
      waiting.add(content)
      working ??= work()
    },
  }
}
