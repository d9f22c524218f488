import manifest from '../package.json' with { type: 'json' }
import { createAccountsModule } from './accounts/accounts.module.ts'
import { createAuthentication } from './accounts/authentication.ts'
import type { OneTimeLink } from './accounts/one-time-links.ts'
import { usableOidc } from './accounts/sign-in/oidc.ts'
import { createSignInModule } from './accounts/sign-in.module.ts'
import type { SettingInForce } from './config.ts'
import { createContentsModule } from './contents/contents.module.ts'
import { type DiskPressure, linuxDiskPressure } from './contents/pace.ts'
import { type Core, createCore, createShutdownHooks, pairUp, type ShutdownHooks } from './core/core.ts'
import { type Job, startJobs } from './core/jobs/jobs.ts'
import { noteProxy } from './core/unknown-proxies.ts'
import { createDownloadsModule } from './downloads/downloads.module.ts'
import { createEventsModule } from './events/events.module.ts'
import { createFilesModule } from './files/files.module.ts'
import type { Log } from './log.ts'
import { createMailModule } from './mail/mail.module.ts'
import { createOutbox } from './mail/outbox.ts'
import { sendTestMail, tryMailServer } from './mail/smtp.ts'
import type { Metrics } from './operations/metrics/metrics.ts'
import { createOperationsModule } from './operations/operations.module.ts'
import { openSecrets, readSecret } from './operations/secrets.ts'
import { type BuiltSite, openBuiltSite } from './pages/built-site.ts'
import { createPagesModule } from './pages/pages.module.ts'
import { versionWithCommit } from './program/version.ts'
import type { ListenWay } from './server/connections/listener.ts'
import type { Modules } from './server/modules.ts'
import { startServer } from './server/server.ts'
import { settings } from './settings.ts'
import { createSharingModule } from './sharing/sharing.module.ts'
import {
  type StorageOptions as Given,
  guardDataFolder,
  holdDataFolder,
  openBlobs,
  openDatabase,
} from './storage.ts'
import { createThumbnailsModule } from './thumbnails/thumbnails.module.ts'
import { createUploadsModule } from './uploads/uploads.module.ts'
import { createWebhooksModule } from './webhooks/webhooks.module.ts'

export { sendTestMail, tryMailServer }

export interface Holdfast {
  readonly url: string
  /** For the first administrator; null when there is one. */
  readonly welcome: OneTimeLink | null
  runJobs(): Promise<void>
  flush(): Promise<void>
  /** Lets uploads finish for up to 30 s, then writes the counters and closes everything. */
  stop(): Promise<void>
}

type Start = Given & {
  readonly log: Log
  readonly settings: readonly SettingInForce[]
  readonly way?: ListenWay
  readonly diskPressure?: DiskPressure
}

const MIGRATING = {
  begins: "the database is older than this program: bringing it to the program's version",
  done: "the database is at this program's version",
} as const

/** Throws DataFolderInUse, WrongStore, DatabaseTooNew, PostgresTooOld or SiteNotBuilt. */
export async function startHoldfast(start: Start): Promise<Holdfast> {
  const { log } = start
  const oidc = usableOidc(start.config.oidc, (message) => log.warn({}, message))
  const shutdown = createShutdownHooks(log)
  try {
    return await startIn(shutdown, { ...start, config: { ...start.config, oidc } })
  } catch (error) {
    await shutdown.all()
    throw error
  }
}

async function startIn(shutdown: ShutdownHooks, start: Start): Promise<Holdfast> {
  const { config, log, clock } = start
  // Loaded where metrics are on: most installations go without.
  const metrics =
    config.metrics &&
    (await import('./operations/metrics/metrics.ts')).createMetrics(versionWithCommit(), clock.monotonic)
  shutdown.addSlow(() => metrics?.stop())
  shutdown.addSlow(await holdDataFolder(config))
  await guardDataFolder(start)
  const site = await openBuiltSite()
  let listeningAt = ''
  const publicUrl = () => config.publicUrl ?? listeningAt
  const { core, signInSecret } = await openCore(shutdown, start, publicUrl, metrics)
  const { modules, mail, jobs: allJobs } = await createModules(core, start, { metrics, signInSecret, site })

  const jobs = startJobs(allJobs, core.claims, { timers: clock.timers, log, watch: metrics?.jobs })
  const stopJobs = shutdown.add('the background jobs', jobs.stop)
  modules.thumbnails.wake()
  const welcome = await modules.accounts.oneTimeLinks.welcome()
  const way = start.way === undefined ? {} : { way: start.way }
  const server = await startServer(modules, {
    ...core,
    metrics: metrics?.requests ?? null,
    hasOtherNodes: core.nodes.hasOthers,
    foundProxy: (found) => {
      const setting = settings.trustedProxies.variable
      core.log.warn(
        { ...found, setting },
        'a proxy forwards requests and is not trusted: all its visitors count as one, so that one of them can use up the limits of all; if it is yours, set the setting to its address',
      )
      noteProxy(core.db, { ...found, at: core.clock.now() }).catch(core.failed('a proxy could not be noted'))
    },
    ...way,
  })
  listeningAt = server.url
  const flush = () => flushAll([modules.files.usage, modules.sharing.linkClaims, core.traffic, core.rates])
  return {
    url: server.url,
    welcome,
    runJobs: () => jobs.runAll(),
    flush,
    async stop() {
      try {
        await server.stop()
        await modules.thumbnails.stop()
        mail.stop()
        modules.webhooks.stop()
        await stopJobs()
        // Without a time limit: the database has its own.
        await flush()
      } finally {
        await shutdown.all()
      }
    },
  }
}

async function createModules(
  core: Core,
  { settings, diskPressure = linuxDiskPressure }: Start,
  given: { readonly metrics: Metrics | null; readonly signInSecret: string; readonly site: BuiltSite },
) {
  const outbox = createOutbox(core.clock, core.random, core.config.mail?.from.address ?? null)
  const files = await createFilesModule(core)
  const signIn = createSignInModule(core, { secret: given.signInSecret, outbox })
  const mail = createMailModule(core, signIn.passwordResets)
  const accounts = createAccountsModule(core, { files, outbox, signIn })
  const mails = { outbox, unsubscribePath: accounts.warningEnd.pathOf }
  const sharing = createSharingModule(core, mails, files)
  const thumbnails = createThumbnailsModule(core)
  const uploads = createUploadsModule(core, { files, thumbnails })
  const contents = createContentsModule(core, { diskPressure, mails })
  const downloads = createDownloadsModule(core, { contents, sharing, uploads })
  const events = createEventsModule(core)
  const webhooks = createWebhooksModule(core, mails, manifest.version)
  const operations = await createOperationsModule(core, {
    settings,
    metrics: given.metrics,
    diskLoad: contents.diskLoad,
    tryMail: tryMailServer,
  })
  const authentication = createAuthentication({
    ...core,
    keyedRequests: accounts.keyedRequests,
    signIn,
    usage: files.usage,
    grants: sharing.folderPasswords.grants,
  })
  const pages = createPagesModule(given.site, { authentication, operations })
  const withJobs = { accounts, files, operations, sharing, signIn, thumbnails, uploads, webhooks }
  const modules: Modules = { ...withJobs, authentication, downloads, events, pages }
  return { modules, mail, jobs: jobsOf([core, contents, mail, ...Object.values(withJobs)]) }
}

async function openCore(
  shutdown: ShutdownHooks,
  { config, clock, random, log }: Start,
  publicUrl: () => string,
  metrics: Metrics | null,
): Promise<{ core: Core; signInSecret: string }> {
  const storage = {
    config,
    clock,
    random,
    report: (error: unknown) => log.error({ err: error }, 'a connection to the database broke'),
    lost(err: unknown): never {
      log.error({ err }, 'the write-ahead log of the database could not be synced; the server exits')
      process.exit(1)
    },
    ...(metrics === null ? {} : { watchStore: metrics.store }),
  }
  const { close, ...database } = await openDatabase(storage, (migrations, state) =>
    log.info({ migrations }, MIGRATING[state]),
  )
  shutdown.addSlow(close)
  const store = await openBlobs(storage, !database.isShared)
  const opened = { config, clock, random, log, shutdown, publicUrl, ...database }
  const paired = await pairUp(store, opened)
  const secrets = await openSecrets(database.db, await readSecret(config.secret), random)
  return {
    core: await createCore({ ...opened, ...paired, secret: secrets.links }),
    signInSecret: secrets.signIn,
  }
}

/** Each one, despite failures of others. */
async function flushAll(counters: readonly { flush(): Promise<void> }[]): Promise<void> {
  const failures: unknown[] = []
  for (const counter of counters) {
    await counter.flush().catch((error: unknown) => failures.push(error))
  }
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, 'what was counted could not be written')
}

/** In the order in which one may feed the next. */
export const JOB_NAMES: readonly string[] = [
  'beat',
  'watch other nodes',
  'watch the disk',
  'note that the service runs',
  'write counters',
  'write downloads by links',
  'write traffic',
  'read the notice',
  'read the branding',
  'write rate windows',
  'probe a broken store',
  'give back room',
  'release uploads',
  'finish uploads',
  'make thumbnails',
  'end uploads of dead nodes',
  'give up unused uploads',
  'forget old idempotency keys',
  'go on with taking down',
  'note totals',
  'keep warned files',
  'warn of unused files',
  'hide unused files',
  'purge unused files',
  'bring back from bins',
  'empty bins',
  'clear deleted folders',
  'purge deleted files',
  'forget removed accounts',
  'forget ended sessions',
  'forget old changes',
  'forget old reports',
  'count old downloads by links',
  'forget contributions that never arrived',
  'end empty transfers',
  'forget old links',
  'end forgotten uploads at the store',
  'remove garbage',
  'forget outcomes of transactions',
  'forget old mails',
  'forget old webhook deliveries',
  'check the database',
  'read stored bytes again',
  'note damaged contents',
  'tell of damaged contents',
  'tell of ends of links',
  'tell of many downloads',
  'tell of storage that is nearly full',
  'tell of what happened to links',
  'keep the mirror',
  'back up',
  'rehearse a restore',
  'send mails',
  'send webhooks',
]

/** Throws for an unlisted job. */
export function jobsOf(modules: readonly { readonly jobs: readonly Job[] }[]): readonly Job[] {
  const jobs = modules.flatMap((module) => module.jobs)
  const unknown = jobs.find(({ name }) => !JOB_NAMES.includes(name))
  if (unknown !== undefined) throw new Error(`JOB_NAMES lacks the job "${unknown.name}"`)
  return jobs.toSorted((a, b) => JOB_NAMES.indexOf(a.name) - JOB_NAMES.indexOf(b.name))
}
