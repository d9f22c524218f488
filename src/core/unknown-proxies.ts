/** Proxies that forward requests and are not trusted, for the doctor of any process. */
import { z } from 'zod'
import type { Database, Queryable } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { metaOf, setMeta } from './meta.rows.ts'

const KEY = 'unknown_proxies'
/** Newest last; more are forgotten. */
const MOST = 16

const kept = z.array(z.object({ peer: z.string(), header: z.string(), at: z.number() }))

export type SeenProxy = z.infer<typeof kept>[number]

/** From oldest to newest. */
export async function seenProxies(db: Queryable): Promise<readonly SeenProxy[]> {
  return kept.catch([]).parse(JSON.parse((await metaOf(db, KEY)) ?? '[]'))
}

export async function noteProxy(db: Database, seen: SeenProxy): Promise<void> {
  await inTransaction(db, async (trx) => {
    const others = (await seenProxies(trx)).filter(({ peer }) => peer !== seen.peer)
    await setMeta(trx, KEY, JSON.stringify([...others, seen].slice(-MOST)))
  })
}
