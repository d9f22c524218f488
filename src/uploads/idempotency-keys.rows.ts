import type { Database, Trx } from '../database/database.ts'
import type { NodeId, Sha256 } from '../domain/ids.ts'

/** A key as one caller uses it. */
export interface UsedKey {
  readonly caller: string
  readonly hash: Sha256
}

export interface KeyUse extends UsedKey {
  readonly created_at: number
  readonly node: NodeId | null
  readonly result: string | null
}

/** Notes the first request with the key; false when there has been one. */
export async function insertKeyUse(
  db: Database,
  key: UsedKey,
  use: { created_at: number; node: NodeId },
): Promise<boolean> {
  const result = await db
    .insertInto('idempotency_keys')
    .values({ caller: key.caller, hash: key.hash, ...use, result: null })
    .onConflict((conflict) => conflict.columns(['caller', 'hash']).doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

export function findKeyUse(db: Database, { caller, hash }: UsedKey): Promise<KeyUse | undefined> {
  return db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('caller', '=', caller)
    .where('hash', '=', hash)
    .executeTakeFirst()
}

/** Begins anew what was seen to be over or nobody's; of several who try at once, one. */
export async function renewKeyUse(
  db: Database,
  seen: KeyUse,
  use: { created_at: number; node: NodeId },
): Promise<boolean> {
  const result = await db
    .updateTable('idempotency_keys')
    .set({ ...use, result: null })
    .where('caller', '=', seen.caller)
    .where('hash', '=', seen.hash)
    .where('created_at', '=', seen.created_at)
    .where('node', seen.node === null ? 'is' : '=', seen.node)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Keeps what the request led to; false when it was taken from this node. */
export async function setKeyResult(
  trx: Trx,
  { caller, hash }: UsedKey,
  node: NodeId,
  result: string,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('idempotency_keys')
    .set({ result, node: null })
    .where('caller', '=', caller)
    .where('hash', '=', hash)
    .where('node', '=', node)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The request came to nothing: the key may be used again. */
export async function dropKeyUse(db: Database, { caller, hash }: UsedKey, node: NodeId): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('caller', '=', caller)
    .where('hash', '=', hash)
    .where('node', '=', node)
    .where('result', 'is', null)
    .execute()
}

export async function dropOldKeyUses(db: Database, before: number): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('created_at', '<=', before).execute()
}
