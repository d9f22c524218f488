import type { Database, Trx } from '../database/database.ts'
import { preparedChange } from '../database/prepared.ts'
import type { NodeId, Sha256 } from '../domain/ids.ts'

export interface UsedKey {
  readonly caller: string
  readonly hash: Sha256
}

export interface KeyUse extends UsedKey {
  readonly created_at: number
  readonly node: NodeId | null
  readonly result: string | null
}

/** False when the key was used before. */
export async function insertKeyUse(
  db: Database,
  { caller, hash }: UsedKey,
  { created_at, node }: { readonly created_at: number; readonly node: NodeId },
): Promise<boolean> {
  return (await insertUse(db, caller, hash, created_at, node)).changed > 0
}

const insertUse = preparedChange((db, caller: string, hash: Sha256, created_at: number, node: NodeId) =>
  db
    .insertInto('idempotency_keys')
    .values({ caller, hash, created_at, node })
    .onConflict((conflict) => conflict.columns(['caller', 'hash']).doNothing()),
)

export function findKeyUse(db: Database, { caller, hash }: UsedKey): Promise<KeyUse | undefined> {
  return db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('caller', '=', caller)
    .where('hash', '=', hash)
    .executeTakeFirst()
}

/** Takes over a key that has expired or whose node is gone; only one of concurrent calls succeeds. */
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

/** False when the key was taken from this node. */
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
