/**
 * Outcomes of PostgreSQL transactions whose answer was lost: each inserts a row of its own. The transaction
 * id does not suffice, because PostgreSQL reuses it when a crash has lost the transaction.
 */
import { sql } from 'kysely'
import type { AccountId } from '../domain/ids.ts'
import type { Database, Queryable, TransactionOutcome, Trx } from './database.ts'
import { preparedChange, preparedStatement } from './prepared.ts'

/**
 * Rows are kept longer than they may be queried, so that a deleted row is never mistaken for one that was
 * never written.
 */
const KEPT = sql`interval '1 hour'`
const ASKED_FOR = sql`interval '30 minutes'`

/** An advisory lock in the namespace of two numbers. */
export interface AdvisoryLock {
  readonly space: number
  readonly number: number
}

/**
 * Locks the account's row until the transaction ends, and then shares the advisory lock; the first lock also inserts the
 * outcome row, in the same round trip.
 */
export async function lockRowOfAccount(
  trx: Trx,
  account: AccountId,
  shared: AdvisoryLock | null = null,
): Promise<void> {
  const id = trx.outcome === null ? crypto.randomUUID() : null
  const { rows } = await (shared === null
    ? lockRow(trx, id, account)
    : lockRowAndShare(trx, id, account, shared.space, shared.number))
  const [row] = rows
  if (row !== undefined && id !== null) trx.outcome = { id, began: row.began }
}

const lockRow = preparedChange((trx: Trx, id: string | null, account: AccountId) => ({
  compile: () =>
    sql<{ began: number }>`
      with given (id) as (values (cast(${id} as uuid))),
      outcome as (
        insert into transaction_outcomes (id, committed) select id, true from given where id is not null
      )
      select extract(epoch from now())::float8 as began from accounts where id = ${account} for no key update
    `.compile(trx),
}))

// The advisory lock is taken for a row that was locked before.
const lockRowAndShare = preparedChange(
  (trx: Trx, id: string | null, account: AccountId, space: number, number: number) => ({
    compile: () =>
      sql<{ began: number }>`
        with given (id) as (values (cast(${id} as uuid))),
        outcome as (
          insert into transaction_outcomes (id, committed) select id, true from given where id is not null
        ),
        locked as materialized (
          select extract(epoch from now())::float8 as began from accounts where id = ${account}
          for no key update
        )
        select began, pg_advisory_xact_lock_shared(cast(${space} as integer), cast(${number} as integer))
        from locked`.compile(trx),
  }),
)

/** The same for a pipeline, which inserts no outcome row, and for several advisory locks of one space. */
export const lockingRowAndSharing = preparedStatement(
  (db: Queryable, account: AccountId, space: number, numbers: readonly number[]) => ({
    compile: () =>
      sql<unknown>`
        with locked as materialized (select id from accounts where id = ${account} for no key update)
        select pg_advisory_xact_lock_shared(cast(${space} as integer), lock.number)
        from locked, unnest(cast(${numbers} as integer[])) as lock (number)`.compile(db),
  }),
)

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
