import { constants, setPriority } from 'node:os'
import { Refusal } from '../../domain/errors.ts'

export const silent = { begin() {}, advance() {}, end() {} }

/** Stops the command at the end of its input, so with the server. Low priority: requests come first. */
export function stopWithServer(stop: AbortController): { end(): void } {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const input = Bun.stdin.stream().getReader()
  void input.read().then(() => stop.abort(new Refusal('SHUTTING_DOWN', 'stopped with the server')))
  return { end: () => void input.cancel() }
}
