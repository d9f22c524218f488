import type { MailContent } from '../core/mail-content.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, yieldToEventLoop } from '../domain/clock.ts'
import { type AccountId, type DamageId, GUESTS } from '../domain/ids.ts'
import type { EndableMails } from '../mail/outbox.ts'
import {
  administratorsToNotify,
  countDamages,
  endDamages,
  endedDamages,
  filesOfDamages,
  forgetDamages,
  noteDamages,
  notNoted,
  ownersToNotify,
  type Recipient,
  type RecipientQuery,
  recordNotified,
} from './damages.rows.ts'

/** Records which copies any process has marked as damaged, and how each damage ended. */

const BATCH = 500
const KEPT_FOR = 400 * DAY

export async function followDamages(
  { db, clock }: { readonly db: Database; readonly clock: Pick<Clock, 'now'> },
  mayGoOn: () => boolean,
): Promise<void> {
  for (;;) {
    const ended = await endedDamages(db, BATCH)
    const idsOf = (remains: number) => ended.filter((row) => row.remains === remains).map(({ id }) => id)
    await endDamages(db, idsOf(1), 'repaired', clock.now())
    await endDamages(db, idsOf(0), 'deleted', clock.now())
    if (ended.length < BATCH || !mayGoOn()) break
  }
  for (;;) {
    const found = await notNoted(db, BATCH)
    await noteDamages(db, found)
    if (found.length < BATCH || !mayGoOn()) break
  }
  await forgetDamages(db, clock.now() - KEPT_FOR)
}

const MOST_NAMES = 20
const ACCOUNTS = 50
const LASTS = 7 * DAY

export interface DamageMails extends EndableMails {
  readonly db: Database
  readonly clock: Pick<Clock, 'now'>
}

/** At most one mail a day and address. Administrators: every content; owners: those of their files. */
export async function mailDamages(
  parts: DamageMails,
  latest: DamageId | null,
  mayGoOn: () => boolean,
): Promise<void> {
  const { db, outbox } = parts
  if (!outbox.isOpen || latest === null) return
  // Owners who are administrators already got the first mail.
  await tellAll(parts, latest, mayGoOn, {
    find: (asked) => administratorsToNotify(db, latest, asked),
    write: (to) => mailToAdministrator(parts, to, latest),
  })
  await tellAll(parts, latest, mayGoOn, {
    find: (asked) => ownersToNotify(db, asked),
    write: (to) => mailToOwner(parts, to, latest),
  })
}

async function tellAll(
  parts: DamageMails,
  latest: DamageId,
  mayGoOn: () => boolean,
  {
    find,
    write,
  }: {
    readonly find: (asked: RecipientQuery) => Promise<Recipient[]>
    readonly write: (to: Recipient) => Promise<MailContent | null>
  },
): Promise<void> {
  const { db, clock, outbox } = parts
  const before = clock.now() - DAY
  let after: AccountId = GUESTS
  while (mayGoOn()) {
    const found = await find({ after, before, limit: ACCOUNTS })
    for (const to of found) {
      after = to.account_id
      const content = await write(to)
      if (content === null) continue
      await inTransaction(db, async (trx) => {
        if (!(await recordNotified(trx, to, latest, clock.now()))) return
        const { account_id: account, address, language } = to
        await outbox.put(trx, { account, to: address, language, content, lasts: LASTS })
      })
      await yieldToEventLoop()
    }
    if (found.length < ACCOUNTS) return
  }
}

async function mailToAdministrator(
  { db, unsubscribePath }: DamageMails,
  { account_id, username, damage_told }: Recipient,
  latest: DamageId,
): Promise<MailContent | null> {
  const span = [damage_told, latest] as const
  const contents = await countDamages(db, span)
  if (contents === 0) return null
  const { files, total } = await filesOfDamages(db, span, null, MOST_NAMES)
  return {
    kind: 'contents damaged',
    username,
    contents,
    files: files.map((file) => ({
      name: file.name,
      owner: file.account_id === GUESTS ? null : file.username,
    })),
    more: Math.max(0, total - files.length),
    unsubscribePath: unsubscribePath(account_id),
  }
}

async function mailToOwner(
  { db, unsubscribePath }: DamageMails,
  { account_id, username, damage_told }: Recipient,
  latest: DamageId,
): Promise<MailContent | null> {
  const { files, total } = await filesOfDamages(db, [damage_told, latest], account_id, MOST_NAMES)
  if (files.length === 0) return null
  return {
    kind: 'files damaged',
    username,
    names: files.map(({ name }) => name),
    more: Math.max(0, total - files.length),
    unsubscribePath: unsubscribePath(account_id),
  }
}
