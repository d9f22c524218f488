/**
 * Outcomes of PostgreSQL transactions whose answer was lost: each inserts a row of its own. The transaction
 * id does not suffice, because PostgreSQL reuses it when a crash has lost the transaction.
 */
import { sql } from 'kysely'
import type { AccountId } from '../domain/ids.ts'
import type { Database, TransactionOutcome, Trx } from './database.ts'

/**
 * Rows are kept longer than they may be queried, so that a deleted row is never mistaken for one that was
 * never written.
 */
const KEPT = sql`interval '1 hour'`
const ASKED_FOR = sql`interval '30 minutes'`

/**
 * Locks the account's row until the transaction ends; the first lock also inserts the outcome row, in the
 * same round trip.
 */
export async function lockRowOfAccount(trx: Trx, account: AccountId): Promise<void> {
  const lock = sql<{ began: number }>`
    select extract(epoch from now())::float8 as began from accounts where id = ${account} for no key update`
  if (trx.outcome !== null) {
    await lock.execute(trx)
    return
  }
  const id = crypto.randomUUID()
  const { rows } = await sql<{ began: number }>`
    with outcome as (insert into transaction_outcomes (id, committed) values (${id}, true)) ${lock}`.execute(
    trx,
  )
  const [row] = rows
  if (row !== undefined) trx.outcome = { id, began: row.began }
}

/**
 * Whether the transaction was committed; the answer is final and durable. Null: too late to tell.
 *
 * The query inserts a row with the same id. While the transaction is under way, its uncommitted row blocks
 * the insert. After a rollback or a crash the insert succeeds, and the transaction can never commit. After a
 * commit the row is updated: that update's commit record follows the other in the WAL, so once it is durable,
 * so is the other.
 */
export async function isCommitted(db: Database, { id, began }: TransactionOutcome): Promise<boolean | null> {
  const { rows } = await sql<{ committed: boolean }>`
    insert into transaction_outcomes (id, committed)
    select ${id}::uuid, false where now() < to_timestamp(${began}) + ${ASKED_FOR}
    on conflict (id) do update set committed = transaction_outcomes.committed
    returning committed`.execute(db)
  return rows[0]?.committed ?? null
}

/** Deletes outcomes that are too old to be queried; returns how many. */
export async function dropOldOutcomes(db: Database, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from transaction_outcomes where id in (
      select id from transaction_outcomes where written_at < now() - ${KEPT} limit ${limit}
    )`.execute(db)
  return Number(numAffectedRows ?? 0)
}
