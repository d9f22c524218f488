import type { Core } from '../core/core.ts'
import { ChangeFeed } from './change-feed.ts'

export type EventsPart = ChangeFeed

export function createEventsPart({ db, clock, failed }: Core): EventsPart {
  return new ChangeFeed(db, clock, failed('changes could not be looked for'))
}
