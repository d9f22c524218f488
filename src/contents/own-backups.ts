import * as z from 'zod/mini'
import type { Config, OwnBackups } from '../config.ts'
import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import type { MailContent } from '../core/mail-content.ts'
import { metaOf, setMeta } from '../core/meta.rows.ts'
import type { Queryable, Trx } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { DAY, HOUR, MINUTE } from '../domain/clock.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'
import { mailRecipients } from '../mail/mail-addresses.rows.ts'
import type { EndableMails } from '../mail/outbox.ts'
import { settings } from '../settings.ts'
import { type Seen, seenOf } from './backup-place.ts'
import {
  type ChildEnd,
  type ChildEnvironment,
  placeEnvironment,
  runChildCommand,
  storageEnvironment,
  withoutSettings,
} from './child-command.ts'
import { parsedJson } from './mark-copies.ts'
import { placeName } from './store-places.ts'

/** Outcomes of scheduled backups and drills, in the database for all nodes. Runs by hand are not recorded. */

export const OWN_RUNS = ['backup', 'drill'] as const
export type OwnRun = (typeof OWN_RUNS)[number]

export const OWN_JOBS = { backup: 'back up', drill: 'rehearse a restore' } as const satisfies Record<
  OwnRun,
  string
>

export const outcome = z.object({
  takenAt: z.int(),
  /** Files of the point, or those that a drill read back. */
  files: z.int(),
  bytes: z.int(),
  /** Contents that the point lacks, or files that a drill found different. */
  wrong: z.int(),
})
export type Outcome = z.infer<typeof outcome>

const runs = z.object({
  /** Records of another place do not count. */
  place: z.string(),
  since: z.int(),
  last: z.nullable(z.extend(outcome, { endedAt: z.int() })),
  failure: z.nullable(z.object({ at: z.int(), reason: z.string() })),
  toldAt: z.nullable(z.int()),
})
export type Runs = z.infer<typeof runs>

const keyOf = (run: OwnRun) => `own_${run}`

/** Null before the server has seen this place. */
export async function runsOf(db: Queryable, run: OwnRun, place: string): Promise<Runs | null> {
  const text = await metaOf(db, keyOf(run))
  if (text === null) return null
  const kept = runs.safeParse(JSON.parse(text))
  return kept.success && kept.data.place === place ? kept.data : null
}

export async function setRuns(trx: Trx, run: OwnRun, kept: Runs): Promise<void> {
  await setMeta(trx, keyOf(run), JSON.stringify(kept))
}

export function noRuns(place: string, now: number): Runs {
  return { place, since: now, last: null, failure: null, toldAt: null }
}

const TRIED_AGAIN_AFTER = { backup: HOUR, drill: DAY }

/** Null: no drill. Times in the future come from a wrong clock, and are ignored. */
export function dueAt(run: OwnRun, { last, failure }: Runs, own: OwnBackups, now: number): number | null {
  if (run === 'drill' && own.drillDays === 0) return null
  const past = (time: number | undefined) =>
    time === undefined || time > now ? Number.NEGATIVE_INFINITY : time
  const again = TRIED_AGAIN_AFTER[run]
  if (failure !== null) return past(failure.at) + again
  if (run === 'backup') return past(last?.takenAt) + own.hours * HOUR
  return past(last?.endedAt) + (last !== null && last.wrong > 0 ? again : own.drillDays * DAY)
}

export interface OwnState {
  readonly place: string
  readonly backup: Runs
  readonly drill: Runs | null
  readonly seen: Seen | null
}

export async function ownState(db: Queryable, own: OwnBackups | null, now: number): Promise<OwnState | null> {
  if (own === null) return null
  const place = placeName(own.place)
  const [backup, drill] = await Promise.all(OWN_RUNS.map((run) => runsOf(db, run, place)))
  const none = noRuns(place, now)
  const seen = await seenOf(db, own.place)
  return { place, backup: backup ?? none, drill: own.drillDays === 0 ? null : (drill ?? none), seen }
}

/** Each in a child process. A killed one is not recorded: the next one, on any node, continues from its copies. */

const CONNECTIONS = 4

type Parts = Pick<Core, 'db' | 'clock' | 'config' | 'log'> & { readonly mails: EndableMails }

export function ownBackupJobs(core: Core, mails: EndableMails): readonly Job[] {
  const { own } = core.config.backup
  if (own === null) return []
  const parts = { ...core, mails }
  const job = (run: OwnRun): Job => ({
    name: OWN_JOBS[run],
    on: 'one node',
    every: MINUTE,
    run: (mayGoOn) => runWhenDue(parts, own, run, mayGoOn),
  })
  return [job('backup'), ...(own.drillDays === 0 ? [] : [job('drill')])]
}

/** Records a failure, then throws its reason. */
async function runWhenDue(parts: Parts, own: OwnBackups, run: OwnRun, mayGoOn: () => boolean): Promise<void> {
  const { db, clock, config, log } = parts
  const place = placeName(own.place)
  const known = await runsOf(db, run, place)
  const before = known ?? noRuns(place, clock.now())
  if (known === null) await inTransaction(db, (trx) => setRuns(trx, run, before))
  const due = dueAt(run, before, own, clock.now())
  if (due === null || due > clock.now()) return
  if (run === 'drill' && ((await runsOf(db, 'backup', place))?.last ?? null) === null) return
  const end = await runChildCommand(
    {
      words: [run, '--for-server'],
      env: environmentOf(config, process.env),
      tell: (said) => log.warn({ said }, `${OWN_JOBS[run]}: the process says`),
    },
    mayGoOn,
  )
  if (end === null || !mayGoOn()) return
  const result = resultOf(run, end)
  await note(parts, run, before, result)
  if (typeof result === 'string') throw new Error(result)
  const fields = { ...result, takenAt: new Date(result.takenAt).toISOString() }
  if (run === 'backup') log.info(fields, 'a backup was made')
  else if (result.wrong === 0) log.info(fields, 'a backup was restored elsewhere, and its files came back')
  else log.error(fields, 'a backup was restored elsewhere, and not all of it came back')
}

function resultOf(run: OwnRun, { code, output, failure }: ChildEnd): Outcome | string {
  if (code === 0) {
    const said = outcome.safeParse(parsedJson(output))
    if (said.success) return said.data
  }
  return failure || `the process of the ${run} ended with ${code ?? 'a signal'}`
}

/** Notifies administrators of problems once a day at most, and of each completed drill. */
async function note(
  { db, clock, mails }: Parts,
  run: OwnRun,
  before: Runs,
  result: Outcome | string,
): Promise<void> {
  const { place, last, toldAt } = before
  const now = clock.now()
  const mayTell = toldAt === null || toldAt > now || now - toldAt >= DAY
  await inTransaction(db, async (trx) => {
    if (typeof result === 'string') {
      const failure = { at: now, reason: result }
      await setRuns(trx, run, { ...before, failure, toldAt: mayTell ? now : toldAt })
      const lastAt = last?.takenAt ?? null
      if (mayTell) {
        const kind = `${run} failed` as const
        await mailAdministrators(trx, mails, (to) => ({ ...to, kind, place, reason: result, lastAt }))
      }
      return
    }
    const isWorse = result.wrong > (last?.wrong ?? 0)
    const isToTell = run === 'drill' || isWorse
    await setRuns(trx, run, { ...before, last: { ...result, endedAt: now }, failure: null })
    const kind = `${run} ended` as const
    if (isToTell) await mailAdministrators(trx, mails, (to) => ({ ...to, kind, place, ...result }))
  })
}

/** All inherited settings: the server of a drill must equal this one. */
function environmentOf(config: Config, inherited: ChildEnvironment): ChildEnvironment {
  const variables = Object.values(settings).map(({ variable }) => variable)
  return {
    ...withoutSettings(inherited),
    ...Object.fromEntries(variables.map((name) => [name, inherited[name]])),
    ...storageEnvironment(config, CONNECTIONS),
    ...backupEnvironment(config.backup),
  }
}

function backupEnvironment({ own, passphraseFile }: Config['backup']): ChildEnvironment {
  return {
    ...(passphraseFile === null ? {} : { [settings.backupPassphraseFile.variable]: passphraseFile }),
    ...(own === null ? {} : { ...placeEnvironment('backup', own.place), ...timesEnvironment(own) }),
  }
}

function timesEnvironment({
  keepDaily,
  keepWeekly,
  rate,
  drillDays,
  drillFolder,
}: OwnBackups): ChildEnvironment {
  return {
    ...(rate === null ? {} : { [settings.backupRate.variable]: String(rate) }),
    [settings.backupKeepDaily.variable]: String(keepDaily),
    [settings.backupKeepWeekly.variable]: String(keepWeekly),
    [settings.drillDays.variable]: String(drillDays),
    ...(drillFolder === null ? {} : { [settings.drillFolder.variable]: drillFolder }),
  }
}

/** Mails to administrators, queued in the transaction that records the outcome. */
const ACCOUNTS = 50
const LASTS = 7 * DAY

async function mailAdministrators(
  trx: Trx,
  { outbox, unsubscribePath }: EndableMails,
  write: (to: { readonly username: string; readonly unsubscribePath: string }) => MailContent,
): Promise<void> {
  if (!outbox.isOpen) return
  let after: AccountId = GUESTS
  for (;;) {
    const found = await mailRecipients(trx, after, ACCOUNTS).where('accounts.is_admin', '=', 1).execute()
    for (const { account_id: account, username, address, language } of found) {
      after = account
      const content = write({ username, unsubscribePath: unsubscribePath(account) })
      await outbox.put(trx, { account, to: address, language, content, lasts: LASTS })
    }
    if (found.length < ACCOUNTS) return
  }
}
