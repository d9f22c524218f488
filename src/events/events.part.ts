import type { Core } from '../core/core.ts'
import { Watching } from './watching.ts'

/** What changed, told as it happens. */
export type EventsPart = Watching

export function createEventsPart({ db, clock, failed }: Core): EventsPart {
  return new Watching(db, clock, failed('changes could not be looked for'))
}
