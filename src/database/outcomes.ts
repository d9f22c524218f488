/**
 * What became of transactions on PostgreSQL whose answer was lost: each writes a row that nobody else writes. The number
 * of a transaction does not tell, because PostgreSQL gives it out again when a crash has lost all trace of it.
 */
import { sql } from 'kysely'
import type { AccountId } from '../domain/ids.ts'
import type { Db } from './schema.ts'

/** Rows stay longer than they may be asked for, so that nobody takes a removed one for one that never was. */
const KEPT = sql`interval '1 hour'`
const ASKED_FOR = sql`interval '30 minutes'`

export interface Outcome {
  /** Of the row that the transaction has written. */
  readonly id: string
  /** When that was, in seconds by the database's clock. */
  readonly began: number
}

const outcomes = new WeakMap<Db, Outcome>()

/** The outcome that the transaction has written; null while it has written none. */
export function outcomeOf(trx: Db): Outcome | null {
  return outcomes.get(trx) ?? null
}

/** Locks the account's row until the transaction ends, and writes an outcome with the first one, in one round trip. */
export async function lockRowOfAccount(trx: Db, account: AccountId): Promise<void> {
  const lock = sql<{ began: number }>`
    select extract(epoch from now())::float8 as began from accounts where id = ${account} for no key update`
  if (outcomes.has(trx)) {
    await lock.execute(trx)
    return
  }
  const id = crypto.randomUUID()
  const { rows } = await sql<{ began: number }>`
    with outcome as (insert into transaction_outcomes (id, committed) values (${id}, true)) ${lock}`.execute(
    trx,
  )
  const [row] = rows
  if (row !== undefined) outcomes.set(trx, { id, began: row.began })
}

/**
 * Whether the transaction was committed; once answered, that is decided and durable. Null: nobody can tell so late.
 *
 * The question is a row of the same id. While the transaction is under way, its own row makes ours wait. When it was
 * rolled back or lost in a crash, ours goes in, and the other never will. When it was committed, its row is written
 * anew: our commit, which is answered only when it is safe, comes after that one in the log and makes both safe.
 */
export async function isCommitted(db: Db, { id, began }: Outcome): Promise<boolean | null> {
  const { rows } = await sql<{ committed: boolean }>`
    insert into transaction_outcomes (id, committed)
    select ${id}::uuid, false where now() < to_timestamp(${began}) + ${ASKED_FOR}
    on conflict (id) do update set committed = transaction_outcomes.committed
    returning committed`.execute(db)
  return rows[0]?.committed ?? null
}

/** Removes outcomes that nobody asks for any more; returns how many. */
export async function dropOldOutcomes(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from transaction_outcomes where id in (
      select id from transaction_outcomes where written_at < now() - ${KEPT} limit ${limit}
    )`.execute(db)
  return Number(numAffectedRows ?? 0)
}
