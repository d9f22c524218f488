import { claimMail, dropMail, type MailRow, nextMail, postponeMail } from '../database/mails.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, DAY, MINUTE, SECOND } from '../domain/clock.ts'
import type { Letter } from '../domain/letter.ts'
import type { Random } from '../domain/random.ts'
import type { Log } from '../log.ts'
import { MailRefused, MailServerAway, type Postman } from '../mail/postman.ts'

/** Sends what waits in the outbox. A mail that could not be sent before it was of no use any more is given up. */
export interface MailSending {
  run(mayGoOn: () => boolean): Promise<void>
  /** Leaves the mail that is under way to whoever comes next. */
  stop(): void
}

/** How long one mail may take, and how long nobody else tries it: a node that stood still does not send it late. */
const MAY_TAKE = MINUTE
const CLAIMED_FOR = 5 * MINUTE

const FIRST_WAIT = 30 * SECOND
/** From about the twelfth try on a mail is set aside for a day at a time. */
const LONGEST_WAIT = DAY
/** A server that is away is nobody's fault: no mail waits for long once it is back. */
const LONGEST_REST = MINUTE

export function createMailSending(parts: {
  db: Db
  clock: Clock
  random: Random
  postman: Postman
  log: Log
}): MailSending {
  const { db, clock, random, postman, log } = parts
  const stopping = new AbortController()
  /** How often in a row the server was away, and until when nothing is sent. */
  let outage = { times: 0, until: 0 }

  /** Between half and all of what doubles with every failure: what has failed together does not come again together. */
  function wait(first: number, times: number, longest: number): number {
    const nominal = Math.min(longest, first * 2 ** Math.min(times, 30))
    return Math.round((nominal / 2) * (1 + (random(1)[0] ?? 0) / 255))
  }

  async function send(row: MailRow): Promise<void> {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(MAY_TAKE)])
    const mail = {
      messageId: row.message_id,
      to: row.recipient,
      language: row.language,
      letter: letterOf(row),
      writtenAt: row.created_at,
    }
    await postman.send(mail, signal)
  }

  function serverAnswers(): void {
    if (outage.times > 0) log.info({}, 'the mail server takes mails again')
    outage = { times: 0, until: 0 }
  }

  async function refused(row: MailRow, { forGood, reply }: MailRefused): Promise<void> {
    const fields = { mail: row.message_id, account: row.account_id, reply }
    if (forGood) {
      log.warn(fields, 'the mail server refused a mail for good; it is given up')
      return dropMail(db, row.id)
    }
    log.warn({ ...fields, tries: row.tries + 1 }, 'the mail server refused a mail for now')
    const due = clock.now() + wait(FIRST_WAIT, row.tries, LONGEST_WAIT)
    await postponeMail(db, row.id, due, row.tries + 1)
  }

  async function serverAway(row: MailRow, error: MailServerAway): Promise<void> {
    if (outage.times === 0 && !stopping.signal.aborted) {
      log.error(
        { reason: error.message, setting: 'HOLDFAST_SMTP_URL' },
        'the mail server takes no mails; they wait and are tried again',
      )
    }
    const rest = wait(SECOND, outage.times, LONGEST_REST)
    outage = { times: outage.times + 1, until: clock.monotonic() + rest }
    await postponeMail(db, row.id, clock.now(), row.tries)
  }

  /** Whether the next one may be tried. */
  async function attempt(row: MailRow): Promise<boolean> {
    if (!(await claimMail(db, row, clock.now() + CLAIMED_FOR))) return true
    try {
      await send(row)
    } catch (error) {
      if (error instanceof MailServerAway) {
        await serverAway(row, error)
        return false
      }
      if (!(error instanceof MailRefused)) throw error
      serverAnswers()
      await refused(row, error)
      return true
    }
    serverAnswers()
    await dropMail(db, row.id)
    return true
  }

  return {
    async run(mayGoOn) {
      while (mayGoOn() && !stopping.signal.aborted && clock.monotonic() >= outage.until) {
        const row = await nextMail(db, clock.now())
        if (row === undefined || !(await attempt(row))) break
      }
    },

    stop: () => stopping.abort(),
  }
}

/** What the outbox has written. */
function letterOf({ letter }: MailRow): Letter {
  return JSON.parse(letter)
}
