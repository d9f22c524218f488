import { findAccount } from '../core/accounts.rows.ts'
import type { Trx } from '../database/database.ts'
import type { Language } from '../domain/account.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { AccountId } from '../domain/ids.ts'
import type { MailAddress } from '../domain/mail-address.ts'
import type { MailContent } from '../domain/mail-content.ts'
import type { Random } from '../domain/random.ts'
import { findMailAddress } from './mail-addresses.rows.ts'
import { insertMail } from './mails.rows.ts'

export type MailNotice = 'password changed' | 'address changed' | 'address removed'

/** Transactional outbox: a mail is inserted in the transaction that causes it, and sent afterwards, at least once. */
export interface Outbox {
  /** Whether mails are sent. If not, none are inserted. */
  readonly isOpen: boolean
  /** `lasts`: milliseconds after which the mail is useless. */
  put(
    trx: Trx,
    mail: {
      readonly account: AccountId
      readonly to: MailAddress
      readonly language: Language
      readonly content: MailContent
      readonly lasts: number
    },
  ): Promise<void>
  notify(trx: Trx, account: AccountId, notice: MailNotice): Promise<void>
}

export interface EndableMails {
  readonly outbox: Outbox
  readonly unsubscribePath: (account: AccountId) => string
}

const NOTICE_LASTS = 3 * DAY

/** Null: no mails are sent. */
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
      letter: JSON.stringify(mail.content),
      created_at: now,
      ends_at: now + mail.lasts,
      due_at: now,
    })
  }

  return {
    isOpen: from !== null,
    put,

    async notify(trx, account, kind) {
      const address = await findMailAddress(trx, account)
      const owner = await findAccount(trx, account)
      if (address === undefined || address.address === null || owner === undefined) return
      await put(trx, {
        account,
        to: address.address,
        language: address.language,
        content: { kind, username: owner.username },
        lasts: NOTICE_LASTS,
      })
    },
  }
}
