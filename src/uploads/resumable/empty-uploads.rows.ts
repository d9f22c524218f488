import type { Database, Queryable, Trx } from '../../database/database.ts'
import type { AccountId, LinkId } from '../../domain/ids.ts'
import type { UploadRow } from '../uploads.rows.ts'

/** Uploads of an account, or by one link to it. */
export interface EmptyUploadsOf {
  readonly account: AccountId
  readonly link: LinkId | null
}

/** Parts created with their final upload count as it. */
function emptyOnes(db: Queryable, { account, link }: EmptyUploadsOf) {
  const empty = db
    .selectFrom('uploads')
    .where('account_id', '=', account)
    .where('ended_at', 'is', null)
    .where('received', '=', 0)
    .where('joined_into', 'is', null)
    .where('part', 'is', null)
  return link === null ? empty.where('link_id', 'is', null) : empty.where('link_id', '=', link)
}

/** At most `limit`, of all or of one address. */
export async function countEmpty(
  db: Queryable,
  of: EmptyUploadsOf,
  address: string | null,
  limit: number,
): Promise<number> {
  const all = emptyOnes(db, of).select('id').limit(limit)
  const some = address === null ? all : all.where('address', '=', address)
  const { count } = await db
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export interface EmptyOfAddress {
  readonly network: string | null
  readonly subnet: string | null
  readonly address: string | null
  readonly count: number
}

export async function emptyByAddress(db: Queryable, of: EmptyUploadsOf): Promise<EmptyOfAddress[]> {
  const rows = await emptyOnes(db, of)
    .select(({ fn }) => ['network', 'subnet', 'address', fn.countAll<number>().as('count')])
    .groupBy(['network', 'subnet', 'address'])
    .execute()
  return rows.map((row) => ({ ...row, count: Number(row.count) }))
}

/** Longest unused first; of all addresses where there are too many to name. */
export function idleEmpty(
  trx: Trx,
  of: EmptyUploadsOf,
  { addresses, before, limit }: { readonly addresses: readonly string[]; before: number; limit: number },
): Promise<UploadRow[]> {
  const idle = emptyOnes(trx, of)
    .selectAll()
    .where('state', '=', 'uploading')
    .where('node', 'is', null)
    .where('used_at', '<=', before)
    .orderBy('used_at')
    .orderBy('id')
    .limit(limit)
  return (addresses.length > MOST_NAMED ? idle : idle.where('address', 'in', addresses)).execute()
}

const MOST_NAMED = 500

/** Empty since `before`, oldest first, after the given one; with parts. */
export function waitingEmpty(
  db: Database,
  before: number,
  after: Pick<UploadRow, 'id' | 'used_at'> | null,
  limit: number,
): Promise<UploadRow[]> {
  const empty = db
    .selectFrom('uploads')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('joined_into', 'is', null)
    .where('received', '=', 0)
    .where('state', '=', 'uploading')
    .where('used_at', '<=', before)
    .orderBy('used_at')
    .orderBy('id')
    .limit(limit)
  if (after === null) return empty.execute()
  const { id, used_at } = after
  return empty
    .where('used_at', '>=', used_at)
    .where((row) => row.or([row('used_at', '>', used_at), row('id', '>', id)]))
    .execute()
}

export async function noteSender(
  db: Database,
  sender: { readonly account: AccountId } | { readonly address: string },
  at: number,
): Promise<void> {
  const empty = db
    .updateTable('uploads')
    .set({ used_at: at })
    .where('ended_at', 'is', null)
    .where('joined_into', 'is', null)
    .where('received', '=', 0)
    .where('used_at', '<', at)
  const own =
    'address' in sender
      ? empty.where('address', '=', sender.address)
      : empty.where('account_id', '=', sender.account).where('address', 'is', null)
  await own.execute()
}
