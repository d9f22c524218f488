/** What commands do differently that a server runs in a process of its own. */
import { constants, setPriority } from 'node:os'
import { Refusal } from '../../domain/errors.ts'

/** Shows no progress. */
export const silent = { begin() {}, advance() {}, end() {} }

/**
 * Stops the command at the end of its input, which is that of the server too. `end` lets the process end. Requests come
 * first where the processors are busy.
 */
export function stopWithServer(stop: AbortController): { end(): void } {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const input = Bun.stdin.stream().getReader()
  void input.read().then(() => stop.abort(new Refusal('SHUTTING_DOWN', 'stopped with the server')))
  return { end: () => void input.cancel() }
}
