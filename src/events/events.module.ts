import type { Core } from '../core/core.ts'
import { ChangeFeed } from './change-feed.ts'

export type EventsModule = ChangeFeed

export function createEventsModule({ db, clock, failed }: Core): EventsModule {
  return new ChangeFeed(db, clock, failed('changes could not be looked for'))
}
