import { findAccount } from '../database/accounts.ts'
import { isUniqueViolation } from '../database/differences.ts'
import {
  dropMailAddress,
  findMailAddress,
  type MailAddressRow,
  setPendingAddress,
  setVerifiedAddress,
  setWarnings,
} from '../database/mail-addresses.ts'
import { dropLinks, findLink, takeLink } from '../database/one-time-links.ts'
import type { Db } from '../database/schema.ts'
import { hashToken } from '../database/token-hash.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Language } from '../domain/language.ts'
import { foldMailAddress, type MailAddress, parseMailAddress } from '../domain/mail-address.ts'
import type { SessionCaller } from './caller.ts'
import type { MakeLink } from './link-making.ts'
import { invalidLink } from './one-time-links.ts'
import type { Outbox } from './outbox.ts'
import type { Proofs } from './proofs.ts'
import type { RateLimits } from './rate-limits.ts'
import { countTry } from './tries.ts'

export interface MailSettings {
  /** Whether this server sends mail. */
  readonly isOn: boolean
  /** The one that its owner has shown to be theirs. */
  readonly address: MailAddress | null
  /** The one that waits for that, and is used for nothing else until then. */
  readonly pending: MailAddress | null
  /** Whether the owner is told of files that go. */
  readonly warnings: boolean
}

/** Whose address it is that somebody is asked about. */
export interface WaitingAddress {
  readonly username: string
  readonly address: MailAddress
}

/** Where owners get their mail: each account has one address, or none. */
export interface MailAddresses {
  get(caller: SessionCaller): Promise<MailSettings>
  /**
   * Sends a link to the address, which takes the place of the present one when it is used. Throws what
   * `Proofs.confirm` throws, and Refusal INVALID_REQUEST, MAIL_DISABLED or RATE_LIMITED.
   */
  set(caller: SessionCaller, password: string | null, address: string, language: Language): Promise<void>
  /** Forgets the address, and tells that to who is there. Throws what `Proofs.confirm` throws. */
  remove(caller: SessionCaller, password: string | null): Promise<void>
  setWarnings(caller: SessionCaller, warnings: boolean, language: Language): Promise<void>
  /** What the link would verify, without using it. Throws Refusal INVALID_LINK. */
  waiting(token: string): Promise<WaitingAddress>
  /** Throws Refusal INVALID_LINK, and ADDRESS_TAKEN when it is the address of another account. */
  verify(token: string): Promise<WaitingAddress>
}

const A_DAY_OF_ACCOUNT = 10
const A_DAY_TO_ADDRESS = 5

export function createMailAddresses(parts: {
  db: Db
  clock: Clock
  rates: RateLimits
  proofs: Proofs
  outbox: Outbox
  makeLink: MakeLink
}): MailAddresses {
  const { db, clock, rates, proofs, outbox, makeLink } = parts

  /** Nobody is made to send more to an address than its owner would forgive. */
  async function countMail(account: AccountId, folded: string): Promise<void> {
    const windows = [
      { subject: `mail-of:${account}`, limit: A_DAY_OF_ACCOUNT, length: DAY },
      { subject: `mail-to:${Bun.SHA256.hash(folded, 'hex')}`, limit: A_DAY_TO_ADDRESS, length: DAY },
    ]
    await countTry(rates, windows, 'Too many mails were sent for this already; try again later')
  }

  async function waitingOf(trx: Db, account: AccountId | null | undefined) {
    if (account === null || account === undefined) throw invalidLink()
    const [row, owner] = [await findMailAddress(trx, account), await findAccount(trx, account)]
    if (row === undefined || row.pending === null || owner === undefined) throw invalidLink()
    return { account, row, waiting: { username: owner.username, address: row.pending } }
  }

  return {
    async get({ account }) {
      const row = await findMailAddress(db, account)
      return {
        isOn: outbox.isOpen,
        address: row?.address ?? null,
        pending: row?.pending ?? null,
        warnings: row?.warnings !== 0,
      }
    },

    async set(caller, password, text, language) {
      if (!outbox.isOpen) throw new Refusal('MAIL_DISABLED', 'This server sends no mail')
      const address = parseMailAddress(text.trim())
      if (address === null) {
        throw new Refusal('INVALID_REQUEST', '"address": must be a mail address such as ada@example.org')
      }
      await proofs.confirm(caller, password)
      const { account, username } = caller
      const present = await findMailAddress(db, account)
      const pending = isSame(present, address) ? null : address
      if (pending !== null) await countMail(account, foldMailAddress(pending))
      await inTransaction(db, async (trx) => {
        await setPendingAddress(trx, account, pending, language)
        await dropLinks(trx, 'mail', account)
        if (pending === null) return
        const { path } = await makeLink(trx, 'mail', account)
        const letter = { kind: 'verify', username, path } as const
        await outbox.put(trx, { account, to: pending, language, letter, lasts: DAY })
      })
    },

    async remove(caller, password) {
      await proofs.confirm(caller, password)
      const { account } = caller
      await inTransaction(db, async (trx) => {
        await outbox.tell(trx, account, 'address removed')
        await dropMailAddress(trx, account)
        await dropLinks(trx, 'mail', account)
        await dropLinks(trx, 'password', account)
      })
    },

    setWarnings: ({ account }, warnings, language) => setWarnings(db, account, warnings ? 1 : 0, language),

    async waiting(token) {
      const link = await findLink(db, hashToken(token), 'mail', clock.now())
      return (await waitingOf(db, link?.account_id)).waiting
    },

    async verify(token) {
      try {
        return await inTransaction(db, async (trx) => {
          const link = await takeLink(trx, hashToken(token), 'mail', clock.now())
          const { account, row, waiting } = await waitingOf(trx, link?.account_id)
          if (row.address !== null) {
            await outbox.tell(trx, account, 'address changed')
            // What was sent to the old address is worth nothing any more.
            await dropLinks(trx, 'password', account)
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
