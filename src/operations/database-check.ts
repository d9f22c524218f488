/** Reads every page of SQLite's file in a process of its own: neither the start nor requests wait for the disk. */
import * as z from 'zod/mini'
import type { Config } from '../config.ts'
import { runChildCommand, storageEnvironment, withoutSettings } from '../contents/child-command.ts'
import { parsedJson } from '../contents/mark-copies.ts'
import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { metaOf, setMeta } from '../core/meta.rows.ts'
import type { Database } from '../database/database.ts'
import { type DamagedPart, damagedParts } from '../database/sqlite-damage.ts'
import { inTransaction } from '../database/transactions.ts'
import { DAY, MINUTE } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { databaseFile } from '../storage.ts'

const LAST_CHECK = 'database_check'
const EVERY = 7 * DAY
const EVERY_WHILE_DAMAGED = DAY

const partSchema = z.object({
  name: z.nullable(z.string()),
  kind: z.enum(['table', 'index', 'free pages']),
  reason: z.string(),
})
const output = z.object({ damaged_parts: z.array(partSchema) })
const lastCheck = z.object({ at: z.number(), damaged: z.boolean() })
type LastCheck = z.infer<typeof lastCheck>

/** In this process. Throws Refusal PRECONDITION_FAILED without a SQLite file, and what `beforeEach` throws. */
export function readPages(
  config: Config,
  beforeEach: (table: string) => Promise<void>,
): Promise<readonly DamagedPart[]> {
  const refused = (why: string) => Promise.reject(new Refusal('PRECONDITION_FAILED', why))
  if (config.databaseUrl !== null) return refused('PostgreSQL has a program of its own for this: pg_amcheck')
  const file = databaseFile(config)
  if (file === null) return refused(`there is no Holdfast data in ${config.dataDir}`)
  return damagedParts(file, beforeEach)
}

/** Null when `mayGoOn` returned false before the end. Throws when the process fails. */
export async function checkInOwnProcess(
  config: Config,
  mayGoOn: () => boolean,
): Promise<readonly DamagedPart[] | null> {
  const end = await runChildCommand(
    {
      words: ['check', '--database', '--json', '--for-server'],
      env: { ...withoutSettings(process.env), ...storageEnvironment(config, 1) },
      tell() {},
    },
    mayGoOn,
  )
  if (end === null) return null
  const said = output.safeParse(parsedJson(end.output))
  if (said.success) return said.data.damaged_parts
  throw new Error(end.failure || `the process that checks the database ended with ${end.code ?? 'a signal'}`)
}

/** SQLite only: after a crash, after a query that met damage, and once a week. */
export async function databaseCheckJobs({
  db,
  clock,
  config,
  nodes,
  log,
}: Pick<Core, 'db' | 'clock' | 'config' | 'nodes' | 'log'>): Promise<readonly Job[]> {
  const { damage } = db
  if (damage === null) return []
  let last = await lastCheckOf(db)
  damage.checked(last?.damaged === true)
  let followsCrash = nodes.followsCrash

  function isDue(): boolean {
    if (followsCrash || last === null) return true
    const age = clock.now() - last.at
    if (last.damaged) return age > EVERY_WHILE_DAMAGED
    return damage?.isUnchecked === true || age > EVERY
  }

  async function note(check: LastCheck): Promise<void> {
    last = check
    // The damaged page may be the one that records it.
    await inTransaction(db, (trx) => setMeta(trx, LAST_CHECK, JSON.stringify(check))).catch(() => {})
  }

  return [
    {
      name: 'check the database',
      on: 'one node',
      every: MINUTE,
      hasWork: async () => isDue(),
      async run(mayGoOn) {
        if (!isDue()) return
        const at = clock.now()
        if (last === null && !followsCrash && !damage.isUnchecked) return note({ at, damaged: false })
        damage.beginCheck()
        const parts = await checkInOwnProcess(config, mayGoOn)
        if (parts === null) return
        followsCrash = false
        damage.checked(parts.length > 0)
        await note({ at, damaged: parts.length > 0 })
        for (const { name, kind, reason } of parts) {
          log.error({ part: name, kind, reason }, 'the database is damaged: docs/operations/disaster.md')
        }
      },
    },
  ]
}

async function lastCheckOf(db: Database): Promise<LastCheck | null> {
  return lastCheck.safeParse(parsedJson((await metaOf(db, LAST_CHECK)) ?? '')).data ?? null
}
