import type { Core } from '../core/core.ts'
import { type MailContent, mailContent } from '../core/mail-content.ts'
import type { Language } from '../domain/account.ts'
import { DAY, MINUTE, SECOND } from '../domain/clock.ts'
import type { MailAddress } from '../domain/mail-address.ts'
import { claimMail, dropMail, type MailRow, nextMail, postponeMail } from './outbox.ts'

/** Time limit for one mail, and its lease: longer, so that a stalled node does not send it a second time. */
const MAY_TAKE = MINUTE
const CLAIMED_FOR = 5 * MINUTE

const FIRST_WAIT = 30 * SECOND
/** Longest backoff of a mail, reached at about the twelfth attempt. */
const LONGEST_WAIT = DAY
/** Longest backoff of the server: short, so that mails go out soon after an outage. */
const LONGEST_REST = MINUTE

/** Drops mails that could not be sent while they were useful. */
export function createMailSending({
  db,
  clock,
  random,
  transport,
  log,
}: Pick<Core, 'db' | 'clock' | 'random' | 'log'> & {
  readonly transport: MailTransport
}) {
  const stopping = new AbortController()
  let outage = { times: 0, until: 0 }

  /** Exponential backoff with jitter (half to all of the delay): failed mails do not retry together. */
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
      content: mailContent.parse(JSON.parse(row.letter)),
      writtenAt: row.created_at,
    }
    await transport.send(mail, signal)
  }

  function serverAnswers(): void {
    if (outage.times > 0) log.info({}, 'the mail server accepts mails again')
    outage = { times: 0, until: 0 }
  }

  async function refused(row: MailRow, { forGood, reply }: MailRefused): Promise<void> {
    const fields = { mail: row.message_id, account: row.account_id, reply }
    if (forGood) {
      log.warn(fields, 'the mail server rejected a mail permanently; it is dropped')
      return dropMail(db, row.id)
    }
    log.warn(
      { ...fields, tries: row.tries + 1 },
      'the mail server rejected a mail temporarily; it will be retried',
    )
    const due = clock.now() + wait(FIRST_WAIT, row.tries, LONGEST_WAIT)
    await postponeMail(db, row.id, due, row.tries + 1)
  }

  async function serverAway(row: MailRow, error: MailServerUnavailable): Promise<void> {
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

  async function attempt(row: MailRow): Promise<boolean> {
    if (!(await claimMail(db, row, clock.now() + CLAIMED_FOR))) return true
    try {
      await send(row)
    } catch (error) {
      if (error instanceof MailServerUnavailable) {
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

  const mayTry = () => !stopping.signal.aborted && clock.monotonic() >= outage.until
  return {
    hasWork: async (): Promise<boolean> => mayTry() && (await nextMail(db, clock.now())) !== undefined,

    async run(mayGoOn: () => boolean): Promise<void> {
      while (mayGoOn() && mayTry()) {
        const row = await nextMail(db, clock.now())
        if (row === undefined || !(await attempt(row))) break
      }
    },

    stop: (): void => stopping.abort(),
  }
}

export interface Mail {
  /** With angle brackets; equal for retries. */
  readonly messageId: string
  readonly to: MailAddress
  readonly language: Language
  readonly content: MailContent
  readonly writtenAt: number
}

export interface MailTransport {
  /**
   * Resolves once the mail is accepted. Throws MailRefused when this mail is rejected, and MailServerUnavailable when
   * the server accepts none at the moment or the signal aborted it.
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>
}

/** `forGood`: a retry cannot succeed. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'

  constructor(
    readonly forGood: boolean,
    /** The server's reply code, such as 550; null when the mail was rejected before it was sent. */
    readonly reply: number | null,
    options?: ErrorOptions,
  ) {
    super(`a mail was refused with ${reply}`, options)
  }
}

/** The server is unreachable, does not answer, or rejects the login. */
export class MailServerUnavailable extends Error {
  override readonly name = 'MailServerUnavailable'
}
