import type { IncomingMessage } from 'node:http'
import { SECOND } from '../../domain/clock.ts'

/** For draining a refused sender: bytes, and milliseconds in total. */
const MOST = 64 * 1024 * 1024
const LONGEST = 30 * SECOND
/** Milliseconds without a byte. */
const QUIET = 5 * SECOND

/** Closing with unread bytes resets the connection, and the reset may overtake the response. */
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
    // Earlier readers must not get these bytes.
    incoming.removeAllListeners('data')
    incoming.on('data', drop)
    incoming.once('end', stop)
    incoming.once('close', stop)
    incoming.resume()
  })
}

/** Destroys the connection when the body is too large. */
export function dropUnread(incoming: IncomingMessage): void {
  if (incoming.complete || incoming.destroyed) return
  let left = MOST
  incoming.removeAllListeners('data')
  incoming.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) incoming.destroy()
  })
  incoming.resume()
}
