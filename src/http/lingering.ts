import type { IncomingMessage } from 'node:http'
import { SECOND } from '../domain/clock.ts'

/** What a refused sender gets to read its answer and to stop: bytes that it may still send, and milliseconds in all. */
const MOST = 64 * 1024 * 1024
const LONGEST = 30 * SECOND
/** Milliseconds for which it may send nothing meanwhile. */
const QUIET = 5 * SECOND

/**
 * Takes what a refused sender still sends and drops it, until it stops. A connection that is closed with bytes unread is
 * reset, and a reset may overtake the answer, which the sender then never sees.
 */
export function untilSenderStops(incoming: IncomingMessage): Promise<void> {
  if (incoming.complete || incoming.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    let left = MOST
    const stop = () => {
      clearTimeout(longest)
      clearTimeout(quiet)
      incoming.off('data', drop)
      resolve()
    }
    const drop = (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) stop()
      else quiet.refresh()
    }
    const longest = setTimeout(stop, LONGEST)
    const quiet = setTimeout(stop, QUIET)
    // Whoever read the body before wants no more of it.
    incoming.removeAllListeners('data')
    incoming.on('data', drop)
    incoming.once('end', stop)
    incoming.once('close', stop)
    incoming.resume()
  })
}
