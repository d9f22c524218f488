/** PostgreSQL transactions whose answer was lost, one row each: transaction ids are reused after a crash. */
import { sql } from 'kysely'
import type { AccountId } from '../domain/ids.ts'
import type { Database, TransactionOutcome, Trx } from './database.ts'
import { preparedChange } from './prepared.ts'

/** Rows outlive the time in which they may be queried, so that a deleted one never looks unwritten. */
const KEPT = sql`interval '1 hour'`
const ASKED_FOR = sql`interval '30 minutes'`

export interface AdvisoryLocks {
  readonly space: number
  readonly numbers: readonly number[]
}

/** Row lock until the transaction ends, then advisory locks; the first lock also inserts the outcome row. */
export async function lockRowOfAccount(
  trx: Trx,
  account: AccountId,
  isNew: boolean,
  shared: AdvisoryLocks | null = null,
): Promise<void> {
  const id = isNew && trx.outcome === null ? crypto.randomUUID() : null
  const { rows } = await (shared === null
    ? lockRow(trx, id, account)
    : lockRowAndShare(trx, id, account, shared.space, shared.numbers))
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

// Row lock before advisory locks.
const lockRowAndShare = preparedChange(
  (trx: Trx, id: string | null, account: AccountId, space: number, numbers: readonly number[]) => ({
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
        select began, pg_advisory_xact_lock_shared(cast(${space} as integer), lock.number)
        from locked, unnest(cast(${numbers} as integer[])) as lock (number)`.compile(trx),
  }),
)

/**
 * Whether the transaction was committed, final and durable. Null: too late to tell.
 *
 * Inserts a row with the transaction's id. An open transaction's row blocks the insert. After a rollback or crash it
 * succeeds, and the transaction can never commit. After a commit it updates the row: this commit record follows the
 * other in the WAL, so once durable, both are.
 */
export async function isCommitted(db: Database, { id, began }: TransactionOutcome): Promise<boolean | null> {
  const { rows } = await sql<{ committed: boolean }>`
    insert into transaction_outcomes (id, committed)
    select ${id}::uuid, false where now() < to_timestamp(${began}) + ${ASKED_FOR}
    on conflict (id) do update set committed = transaction_outcomes.committed
    returning committed`.execute(db)
  return rows[0]?.committed ?? null
}

export async function dropOldOutcomes(db: Database, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from transaction_outcomes where id in (
      select id from transaction_outcomes where written_at < now() - ${KEPT} limit ${limit}
    )`.execute(db)
  return Number(numAffectedRows ?? 0)
}
