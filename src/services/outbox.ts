import { findAccount } from '../database/accounts.ts'
import { findMailAddress } from '../database/mail-addresses.ts'
import { insertMail } from '../database/mails.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Language } from '../domain/language.ts'
import type { Letter } from '../domain/letter.ts'
import type { MailAddress } from '../domain/mail-address.ts'
import type { Random } from '../domain/random.ts'

/** What an owner is told of their account because it may not have been them. */
export type Notice = 'password changed' | 'address changed' | 'address removed'

/** Mails are written in the transaction of what they tell of, and sent behind it, at least once. */
export interface Outbox {
  /** Whether mails are sent. Where they are not, none is written. */
  readonly isOpen: boolean
  /** `lasts`: milliseconds for which the mail is of any use. */
  put(
    trx: Db,
    mail: {
      readonly account: AccountId
      readonly to: MailAddress
      readonly language: Language
      readonly letter: Letter
      readonly lasts: number
    },
  ): Promise<void>
  /** Tells the account's owner, if there is a verified address. */
  tell(trx: Db, account: AccountId, notice: Notice): Promise<void>
}

const NOTICE_LASTS = 3 * DAY

/** `from`: the address that mails are from; null: none are sent. */
export function createOutbox(clock: Clock, random: Random, from: MailAddress | null): Outbox {
  const host = from?.split('@').at(-1)

  async function put(...[trx, mail]: Parameters<Outbox['put']>): Promise<void> {
    if (from === null) return
    const now = clock.now()
    await insertMail(trx, {
      message_id: `<${Buffer.from(random(16)).toString('hex')}@${host}>`,
      account_id: mail.account,
      recipient: mail.to,
      language: mail.language,
      letter: JSON.stringify(mail.letter),
      created_at: now,
      ends_at: now + mail.lasts,
      due_at: now,
    })
  }

  return {
    isOpen: from !== null,
    put,

    async tell(trx, account, kind) {
      const address = await findMailAddress(trx, account)
      const owner = await findAccount(trx, account)
      if (address === undefined || address.address === null || owner === undefined) return
      await put(trx, {
        account,
        to: address.address,
        language: address.language,
        letter: { kind, username: owner.username },
        lasts: NOTICE_LASTS,
      })
    },
  }
}
