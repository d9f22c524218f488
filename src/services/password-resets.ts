import { findAccount, findAccountByName } from '../database/accounts.ts'
import { findPassword } from '../database/identities.ts'
import { findAccountByAddress, findMailAddress, type MailAddressRow } from '../database/mail-addresses.ts'
import {
  insertResetRequest,
  nextResetRequest,
  type ResetRequestRow,
  takeResetRequest,
} from '../database/reset-requests.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import type { MailAddress } from '../domain/mail-address.ts'
import { RAW_FACTOR } from '../domain/measured-text.ts'
import type { MakeLink } from './link-making.ts'
import type { Outbox } from './outbox.ts'
import type { RateLimits } from './rate-limits.ts'
import { countTry } from './tries.ts'

/** A way back for who has forgotten their password, by mail. */
export interface PasswordResets {
  /**
   * Takes in what somebody calls themselves: a user name or an address. It does the same for everybody, so neither
   * the answer nor the time that it takes tells whether there is such an account. Throws Refusal MAIL_DISABLED or
   * RATE_LIMITED.
   */
  request(asked: string, bucket: string): Promise<void>
  /** Writes a mail to each who has an account with a verified address. */
  answerAll(mayGoOn: () => boolean): Promise<void>
}

const REQUESTS_OF_ADDRESS = 10
const MAILS_OF_ACCOUNT = 3
/** How long the link in the mail works, and how late it is of any use to send it. */
const LASTS = HOUR
const LONGEST = 254

export function createPasswordResets(parts: {
  db: Db
  clock: Clock
  rates: RateLimits
  outbox: Outbox
  makeLink: MakeLink
}): PasswordResets {
  const { db, clock, rates, outbox, makeLink } = parts

  /** Whom a mail is written to; null for nobody, and for whom another server signs in. */
  async function recipient(asked: string): Promise<Recipient | null> {
    const id = asked.includes('@')
      ? await findAccountByAddress(db, asked)
      : (await findAccountByName(db, asked))?.id
    if (id === null || id === undefined) return null
    const [owner, mail] = [await findAccount(db, id), await findMailAddress(db, id)]
    if (owner === undefined || owner.disabled_at !== null || mail === undefined) return null
    if (mail.address === null || (await findPassword(db, id)) === null) return null
    const { allowed } = await rates.take(`forgotten-of:${id}`, 1, MAILS_OF_ACCOUNT, HOUR)
    return allowed
      ? { account: id, username: owner.username, to: mail.address, language: mail.language }
      : null
  }

  async function answer({ id, asked, created_at }: ResetRequestRow): Promise<void> {
    const isOver = created_at + LASTS <= clock.now()
    const somebody = isOver ? null : await recipient(asked)
    await inTransaction(db, async (trx) => {
      if (!(await takeResetRequest(trx, id)) || somebody === null) return
      const { username, ...whom } = somebody
      const { path } = await makeLink(trx, 'password', whom.account, LASTS)
      await outbox.put(trx, { ...whom, letter: { kind: 'reset', username, path }, lasts: LASTS })
    })
  }

  return {
    async request(asked, bucket) {
      if (!outbox.isOpen) throw new Refusal('MAIL_DISABLED', 'This server sends no mail')
      const windows = [{ subject: `forgotten:${bucket}`, limit: REQUESTS_OF_ADDRESS, length: HOUR }]
      await countTry(rates, windows, 'Too many requests for a new password; wait a while and try again')
      await insertResetRequest(db, nameOf(asked), clock.now())
    },

    async answerAll(mayGoOn) {
      while (mayGoOn()) {
        const request = await nextResetRequest(db)
        if (request === undefined) break
        await answer(request)
      }
    },
  }
}

interface Recipient extends Pick<MailAddressRow, 'language'> {
  readonly account: AccountId
  readonly username: string
  readonly to: MailAddress
}

/** As names and addresses are kept, which fold in the same way. No database is asked for control characters. */
function nameOf(asked: string): string {
  return asked
    .slice(0, RAW_FACTOR * LONGEST)
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, LONGEST)
    .toLowerCase()
}
