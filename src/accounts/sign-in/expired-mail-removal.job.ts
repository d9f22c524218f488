import type { Database } from '../../database/database.ts'
import { type Clock, HOUR } from '../../domain/clock.ts'
import type { Log } from '../../log.ts'
import { dropMailsOver } from '../../mail/mails.rows.ts'
import { dropResetRequests } from './reset-requests.rows.ts'

/** Runs also where mail was switched off, to minimize stored data. */
export interface ExpiredMailRemoval {
  run(): Promise<void>
}

export function createExpiredMailRemoval(db: Database, clock: Clock, log: Log): ExpiredMailRemoval {
  return {
    async run() {
      const now = clock.now()
      await dropResetRequests(db, now - HOUR)
      const mails = await dropMailsOver(db, now)
      if (mails > 0) log.warn({ mails }, 'mails could not be sent in time and were dropped')
    },
  }
}
