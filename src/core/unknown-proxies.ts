/** Proxies that forward requests and are not trusted, for the doctor and the overview of any process. */

import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import type { Database, Queryable } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { DAY } from '../domain/clock.ts'
import { metaOf, setMeta } from './meta.rows.ts'

const KEY = 'unknown_proxies'
/** Newest last; more are forgotten. */
const MOST = 16

const kept = z.array(z.object({ peer: z.string(), header: z.string(), at: z.number() }))

export type SeenProxy = z.infer<typeof kept>[number]

/** How long one that was seen is told of; a server that still sees it notes it again when it starts. */
const TOLD_FOR = 7 * DAY

/** Those seen in the last seven days that are not trusted, from oldest to newest. */
export async function unknownProxies(
  db: Queryable,
  trusted: { has(address: string): boolean },
  now: number,
): Promise<readonly SeenProxy[]> {
  return (await seenProxies(db)).filter(({ peer, at }) => !trusted.has(peer) && now - at < TOLD_FOR)
}

/** From oldest to newest. */
async function seenProxies(db: Queryable): Promise<readonly SeenProxy[]> {
  return kept.catch([]).parse(JSON.parse((await metaOf(db, KEY)) ?? '[]'))
}

export async function noteProxy(db: Database, seen: SeenProxy): Promise<void> {
  await inTransaction(db, async (trx) => {
    const others = (await seenProxies(trx)).filter(({ peer }) => peer !== seen.peer)
    await setMeta(trx, KEY, JSON.stringify([...others, seen].slice(-MOST)))
  })
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Loopback independent of DNS. */
export function isLoopback({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (host === 'localhost') return true
  const family = isIP(host)
  return family !== 0 && loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
