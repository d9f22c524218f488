import { dropMailsOver } from '../database/mails.ts'
import { dropResetRequests } from '../database/reset-requests.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import type { Log } from '../log.ts'

/** Gives up what is of no use any more, also where no mails are sent by now: what it holds is not kept. */
export interface MailForgetting {
  run(): Promise<void>
}

export function createMailForgetting(db: Db, clock: Clock, log: Log): MailForgetting {
  return {
    async run() {
      const now = clock.now()
      await dropResetRequests(db, now - HOUR)
      const mails = await dropMailsOver(db, now)
      if (mails > 0) log.warn({ mails }, 'mails could not be sent in time and are given up')
    },
  }
}
