import { findAccount } from '../core/accounts.rows.ts'
import type { SessionCaller } from '../core/callers.ts'
import type { Core } from '../core/core.ts'
import { hashToken } from '../core/hmac.ts'
import { countTry } from '../core/rate-limits/attempts.ts'
import type { Queryable } from '../database/database.ts'
import { isUniqueViolation } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Language } from '../domain/account.ts'
import { DAY } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { DownloadMails } from '../domain/event-kinds.ts'
import type { AccountId } from '../domain/ids.ts'
import { foldMailAddress, type MailAddress, parseMailAddress } from '../domain/mail-address.ts'
import {
  dropMailAddress,
  findMailAddress,
  type MailAddressRow,
  type MailWishes,
  setMailWishes,
  setPendingAddress,
  setVerifiedAddress,
} from '../mail/mail-addresses.rows.ts'
import type { Outbox } from '../mail/outbox.ts'
import {
  type CreateOneTimeLink,
  dropOneTimeLinks,
  findOneTimeLink,
  invalidLink,
  takeOneTimeLink,
} from './one-time-links.ts'
import type { Reauthentication } from './sign-in/reauthentication.ts'

export interface MailAddressState {
  readonly isOn: boolean
  readonly address: MailAddress | null
  /** Used for nothing but its verification. */
  readonly pending: MailAddress | null
  readonly warnings: boolean
  readonly downloads: DownloadMails
}

export interface WaitingAddress {
  readonly username: string
  readonly address: MailAddress
}

const MAILS_PER_ACCOUNT = 10
const MAILS_PER_ADDRESS = 5

export function createMailAddresses({
  db,
  clock,
  rates,
  reauthentication,
  outbox,
  makeLink,
}: Pick<Core, 'db' | 'clock' | 'rates'> & {
  readonly reauthentication: Reauthentication
  readonly outbox: Outbox
  readonly makeLink: CreateOneTimeLink
}) {
  /** Per account and per address, so that the server cannot flood an address. */
  async function countMail(account: AccountId, folded: string): Promise<void> {
    const windows = [
      { subject: `mail-of:${account}`, limit: MAILS_PER_ACCOUNT, length: DAY },
      { subject: `mail-to:${Bun.SHA256.hash(folded, 'hex')}`, limit: MAILS_PER_ADDRESS, length: DAY },
    ]
    await countTry(rates, windows, 'Too many mails were sent for this already; try again later')
  }

  async function waitingOf(db: Queryable, account: AccountId | null | undefined) {
    if (account === null || account === undefined) throw invalidLink()
    const [row, owner] = [await findMailAddress(db, account), await findAccount(db, account)]
    if (row === undefined || row.pending === null || owner === undefined) throw invalidLink()
    return { account, row, waiting: { username: owner.username, address: row.pending } }
  }

  return {
    async get({ account }: SessionCaller): Promise<MailAddressState> {
      const row = await findMailAddress(db, account)
      return {
        isOn: outbox.isOpen,
        address: row?.address ?? null,
        pending: row?.pending ?? null,
        warnings: row?.warnings !== 0,
        downloads: row?.download_mails ?? 'first',
      }
    },

    /**
     * Mails a verification link, whose use replaces the current address. Throws what `Reauthentication.confirm`
     * throws, and Refusal INVALID_REQUEST, MAIL_DISABLED or RATE_LIMITED.
     */
    async set(
      caller: SessionCaller,
      password: string | null,
      text: string,
      language: Language,
    ): Promise<void> {
      if (!outbox.isOpen) throw new Refusal('MAIL_DISABLED', 'This server sends no email')
      const address = parseMailAddress(text.trim())
      if (address === null) {
        throw new Refusal('INVALID_REQUEST', '"address": must be an email address such as ada@example.org')
      }
      await reauthentication.confirm(caller, password)
      const { account, username } = caller
      const present = await findMailAddress(db, account)
      const pending = isSame(present, address) ? null : address
      if (pending !== null) await countMail(account, foldMailAddress(pending))
      await inTransaction(db, async (trx) => {
        await setPendingAddress(trx, account, pending, language)
        await dropOneTimeLinks(trx, 'mail', account)
        if (pending === null) return
        const { path } = await makeLink(trx, 'mail', account)
        const content = { kind: 'verify', username, path } as const
        await outbox.put(trx, { account, to: pending, language, content, lasts: DAY })
      })
    },

    /** Also notifies the address. Throws what `Reauthentication.confirm` throws. */
    async remove(caller: SessionCaller, password: string | null): Promise<void> {
      await reauthentication.confirm(caller, password)
      const { account } = caller
      await inTransaction(db, async (trx) => {
        await outbox.notify(trx, account, 'address removed')
        await dropMailAddress(trx, account)
        await dropOneTimeLinks(trx, 'mail', account)
        await dropOneTimeLinks(trx, 'password', account)
      })
    },

    setWishes: ({ account }: SessionCaller, wishes: MailWishes, language: Language): Promise<void> =>
      setMailWishes(db, account, wishes, language),

    /** Does not use the link. Throws Refusal INVALID_LINK. */
    async waiting(token: string): Promise<WaitingAddress> {
      const link = await findOneTimeLink(db, hashToken(token), 'mail', clock.now())
      return (await waitingOf(db, link?.account_id)).waiting
    },

    /** Uses the link. Throws Refusal INVALID_LINK, and ADDRESS_TAKEN when another account has the address. */
    async verify(token: string): Promise<WaitingAddress> {
      try {
        return await inTransaction(db, async (trx) => {
          const link = await takeOneTimeLink(trx, hashToken(token), 'mail', clock.now())
          const { account, row, waiting } = await waitingOf(trx, link?.account_id)
          if (row.address !== null) {
            await outbox.notify(trx, account, 'address changed')
            // Reset links sent to the old address end.
            await dropOneTimeLinks(trx, 'password', account)
          }
          await setVerifiedAddress(trx, account, waiting.address)
          return waiting
        })
      } catch (error) {
        if (!isUniqueViolation(error)) throw error
        throw new Refusal('ADDRESS_TAKEN', 'Another account has this address; remove it there first')
      }
    },
  }
}

function isSame(row: MailAddressRow | undefined, address: MailAddress): boolean {
  return (
    row !== undefined && row.address !== null && foldMailAddress(row.address) === foldMailAddress(address)
  )
}
