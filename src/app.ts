import manifest from '../package.json' with { type: 'json' }
import type { SettingInForce } from './config.ts'
import { dropJobs } from './database/jobs.ts'
import { endsWithin } from './domain/abort.ts'
import { SECOND, systemClock } from './domain/clock.ts'
import { startServer } from './http/server.ts'
import { openBuiltSite } from './http/site/built-site.ts'
import { allJobs, startJobs } from './jobs/jobs.ts'
import type { Log } from './log.ts'
import { createSmtpPostman } from './mail/smtp.ts'
import { createMetrics } from './metrics/metrics.ts'
import { createAccess } from './services/access.ts'
import { createAccountAdministration } from './services/account-administration.ts'
import { createAccounts } from './services/accounts.ts'
import { createAllFiles } from './services/all-files.ts'
import { createArchiveTokens } from './services/archive-tokens.ts'
import { createArchives } from './services/archives.ts'
import { createAuditLog } from './services/audit.ts'
import { createAuth } from './services/auth.ts'
import { createBackgroundJobs } from './services/background-jobs.ts'
import { createBin } from './services/bin.ts'
import { createBinEmptying } from './services/bin-emptying.ts'
import { createBinRestoring } from './services/bin-restoring.ts'
import { createChanges } from './services/changes.ts'
import { createCleaning } from './services/cleaning.ts'
import { createClockGuard } from './services/clock-guard.ts'
import { createContent } from './services/content.ts'
import { startContentHashing } from './services/content-hash.ts'
import { createContentTokens } from './services/content-tokens.ts'
import { createDiskWatch, warnOfFloor } from './services/disk-space.ts'
import { createExpiry } from './services/expiry.ts'
import { createFigures } from './services/figures.ts'
import { createFileWarnings } from './services/file-warnings.ts'
import { createFiles } from './services/files.ts'
import { createFolderClearing } from './services/folder-clearing.ts'
import { createFolderMoves } from './services/folder-moves.ts'
import { createFolderPasswords } from './services/folder-passwords.ts'
import { createFolders } from './services/folders.ts'
import { countStart, createRemoving, guardRemovals } from './services/generations.ts'
import { createIdempotency } from './services/idempotency.ts'
import { createLocalClaims, createSharedClaims, keptFailures } from './services/job-claims.ts'
import { createKeys } from './services/keys.ts'
import { createKnownBrowsers } from './services/known-browsers.ts'
import { createLinkMaking, type OneTimeLink } from './services/link-making.ts'
import { createMailAddresses } from './services/mail-addresses.ts'
import { createMailForgetting } from './services/mail-forgetting.ts'
import { createMailSending } from './services/mail-sending.ts'
import { joinNodes } from './services/nodes.ts'
import { createNotices } from './services/notices.ts'
import { createOidc, usableOidc } from './services/oidc.ts'
import { createOidcExchange } from './services/oidc-exchange.ts'
import { createOneTimeLinks } from './services/one-time-links.ts'
import { createOutages } from './services/outages.ts'
import { createOutbox } from './services/outbox.ts'
import { createOwnAccount } from './services/own-account.ts'
import { createOwnKeys } from './services/own-keys.ts'
import { assertPaired } from './services/pairing.ts'
import { createPasskeys } from './services/passkeys.ts'
import { createPasswordResets } from './services/password-resets.ts'
import { createProofs } from './services/proofs.ts'
import { createPublicFolders } from './services/public-folders.ts'
import { createRateLimits } from './services/rate-limits.ts'
import { createReadiness } from './services/readiness.ts'
import { createReceipts } from './services/receipts.ts'
import { createRemovals } from './services/removals.ts'
import { createReporting } from './services/reporting.ts'
import { createReports } from './services/reports.ts'
import { createResumable } from './services/resumable.ts'
import { createRooms } from './services/room.ts'
import { createSecondFactor } from './services/second-factor.ts'
import { openSecrets, readSecret } from './services/secrets.ts'
import type { Services } from './services/services.ts'
import { createSessions } from './services/sessions.ts'
import { createSharedRateLimits } from './services/shared-rate-limits.ts'
import { createSignIn } from './services/sign-in.ts'
import { createSignUp } from './services/sign-up.ts'
import { createSigning } from './services/signing.ts'
import { createStatistics } from './services/statistics.ts'
import { createStorageShares } from './services/storage-shares.ts'
import { createStoreHealth } from './services/store-health.ts'
import { createTakeDowns } from './services/take-downs.ts'
import { createThumbnailMaking } from './services/thumbnail-making.ts'
import { createThumbnails, noThumbnails } from './services/thumbnails.ts'
import { createTrafficCounter } from './services/traffic.ts'
import { createUploads } from './services/uploads.ts'
import { createUsage } from './services/usage.ts'
import { createWarningEnd } from './services/warning-end.ts'
import { createWatching } from './services/watching.ts'
import type { Parts } from './storage.ts'
import { dataDiskSize, guardDataFolder, holdDataFolder, openBlobs, openDatabase } from './storage.ts'
import { createLocalMaker } from './thumbnails/local-maker.ts'

/** A running server. */
export { sendTestMail } from './mail/smtp.ts'

export interface Holdfast {
  /** Where it listens. */
  readonly url: string
  /** Makes the first administrator; null when there is one. */
  readonly welcome: OneTimeLink | null
  /** Runs every background job once, now. */
  runJobs(): Promise<void>
  /** Writes what this node has counted and not written yet. */
  flush(): Promise<void>
  /** Takes no new work, lets running uploads finish for up to 30 s, writes the counters, closes everything. */
  stop(): Promise<void>
}

/** What a stopping server gives each of its parts, once all requests have ended. */
const ENDING_MAY_TAKE = 10 * SECOND

const MIGRATING = {
  begins: "the database is older than this program: bringing it to the program's version",
  done: "the database is at this program's version",
} as const

/** Builds the service from its parts and starts it. Throws DataFolderInUse, WrongStore, DatabaseTooNew or SiteNotBuilt. */
export async function startHoldfast(
  parts: Parts & { readonly log: Log; readonly settings: readonly SettingInForce[] },
): Promise<Holdfast> {
  const { settings, clock, random, log } = parts
  const config = { ...parts.config, oidc: usableOidc(parts.config.oidc, (message) => log.warn({}, message)) }
  const failed = (what: string) => (error: unknown) => log.error({ err: error }, what)
  const metrics = config.metrics && createMetrics(manifest.version, clock.monotonic)
  const storage = {
    ...parts,
    report: failed('a connection to the database broke'),
    ...(metrics === null ? {} : { watchStore: metrics.store.begin }),
  }
  /** Ends a part, once. What takes too long is left as a kill would leave it, which everything here survives. */
  function ending(what: string, stop: () => Promise<void>): () => Promise<void> {
    let ended: Promise<void> | null = null
    const end = async () => {
      if (await endsWithin(ENDING_MAY_TAKE, stop())) return
      log.warn({ what }, 'stopping without waiting any longer')
    }
    return () => (ended ??= end())
  }

  /** What is to be closed, the latest first. */
  const open = new AsyncDisposableStack()
  open.defer(() => metrics?.stop())
  try {
    open.defer(await holdDataFolder(config))
    await guardDataFolder(parts)
    const builtSite = await openBuiltSite()
    const { db, light, isShared, pools, freeSpace, close } = await openDatabase(
      storage,
      (migrations, state) => log.info({ migrations }, MIGRATING[state]),
    )
    open.defer(close)
    const store = await openBlobs(storage, !isShared)
    await assertPaired(db, store, random)
    const atStart = await countStart(db, store)
    const removing = createRemoving({ db, blobs: store, clock, log, atStart })
    const blobs = guardRemovals(store, removing)
    const secrets = await openSecrets(db, await readSecret(config.secret), random)
    // Timers make a node beat, so the machine's own clock tells how long ago it has.
    const beats = { now: clock.now, monotonic: systemClock.monotonic }
    const nodes = await joinNodes({ db, clock: beats, random, log, alone: !isShared })
    open.defer(ending('leaving the other nodes', nodes.leave))

    const health = createStoreHealth(blobs, failed('the blob store failed'))
    const rates = isShared ? createSharedRateLimits(light, clock) : await createRateLimits(db, clock)
    const traffic = createTrafficCounter(light, clock)
    const usage = createUsage(light, clock, traffic.downloaded)
    const signing = createSigning(secrets.links)
    const access = createAccess(db, signing, clock)
    const cleaning = createCleaning(db, blobs, clock, failed('a blob could not be removed'), removing)
    const diskWatch = createDiskWatch({
      blobSpace: () => blobs.freeSpace(),
      databaseSpace: freeSpace,
      floor: config.minFreeSpace,
      guests: config.guestUploads,
      clock,
      log,
    })
    const disk = await dataDiskSize(config)
    if (disk !== null) warnOfFloor(log, config.minFreeSpace, disk)
    const rooms = createRooms({
      db,
      blobs,
      databaseSpace: freeSpace,
      rates,
      nodes,
      clock,
      limits: config,
      report: failed('room could not be given back yet'),
    })
    // Where others may be at work, their uploads are told from dead ones by a job.
    if (!isShared) await cleaning.afterStart()
    const hashing = startContentHashing()
    open.defer(() => hashing.close())

    const making = config.thumbnails
      ? createThumbnailMaking({
          db,
          blobs,
          health,
          maker: createLocalMaker(log),
          nodes,
          clock,
          random,
          log,
        })
      : null
    const endThumbnails = making === null ? async () => {} : ending('the thumbnails', making.stop)
    open.defer(endThumbnails)
    const thumbnails =
      making === null
        ? noThumbnails
        : createThumbnails({ db, blobs, making, clock, report: failed('a thumbnail could not be had') })
    const idempotency = createIdempotency({
      db,
      nodes,
      clock,
      report: failed('a key could not be given back'),
    })
    const resumable = createResumable({
      db,
      isShared,
      blobs,
      health,
      hashing,
      nodes,
      rates,
      rooms,
      thumbnails,
      clock,
      random,
      limits: config,
      signing,
      uploaded: traffic.uploaded,
      report: failed('a resumable upload failed'),
    })
    // What another process that was alone here has noted of its jobs says nothing about this one.
    if (!isShared) await dropJobs(db, 'all')
    const localClaims = isShared ? null : createLocalClaims(clock, keptFailures(db))
    const claims = localClaims ?? createSharedClaims(db, nodes, clock)

    // Where nobody has said it, only the server itself knows where it is.
    const publicUrl = () => config.publicUrl ?? server.url
    const accounts = createAccounts(db, clock, random)
    const outbox = createOutbox(clock, random, config.mail?.from.address ?? null)
    const makeLink = createLinkMaking(clock, random)
    const signUp = createSignUp({ db, rates, clock, random, outbox, mode: config.signUp })
    const oneTimeLinks = createOneTimeLinks(db, clock, makeLink, config.signUp)
    const auth = createAuth(() => ({
      db,
      clock,
      publicUrl: publicUrl(),
      secret: secrets.signIn,
      admit: (account) => accounts.assertEnabled(account),
      log: (message, error) => log.error({ from: 'better-auth', err: error }, message),
    }))
    const sessions = createSessions(db, clock)
    const proofs = createProofs(db, rates, clock, sessions)
    const ownAccount = createOwnAccount({ db, rates, clock, outbox, proofs })
    const knownBrowsers = createKnownBrowsers({ signing, clock, random, publicUrl })

    const reports = createReports(db, clock)
    const takeDowns = createTakeDowns(db, clock, failed('a content could not be taken down'))
    const notices = createNotices(db, clock)
    const statistics = createStatistics({
      db,
      traffic,
      freeSpace: async () => (await blobs.freeSpace()) ?? freeSpace(),
      clock,
      report: failed('traffic could not be written'),
    })
    await notices.refresh()

    const guard = createClockGuard(clock)
    const outages = await createOutages({ db, clock, timers: systemClock, log })
    open.defer(
      ending('noting when the service stopped', () =>
        outages.note().catch(failed('the time of the stop could not be noted')),
      ),
    )
    const fileLifetime = outages.lifetime(config.inactiveDays)
    const binLifetime = outages.lifetime(config.binDays)
    const warningEnd = createWarningEnd(db, signing)
    const removals = createRemovals(db, clock)
    const sending =
      config.mail === null || config.publicUrl === null
        ? null
        : createMailSending({
            db,
            clock,
            random,
            postman: createSmtpPostman(config.mail, config.publicUrl),
            log,
          })
    const services: Services = {
      access,
      accountAdministration: createAccountAdministration(db, clock, makeLink),
      accounts,
      allFiles: createAllFiles(db),
      archives: createArchives(db, blobs, access),
      archiveTokens: createArchiveTokens(signing, clock),
      auditLog: createAuditLog(db),
      backgroundJobs: createBackgroundJobs(db, nodes, clock, localClaims?.history),
      bin: createBin(db, clock, binLifetime),
      binEmptying: createBinEmptying({ db, clock, guard, outages, lifetime: binLifetime }),
      binRestoring: createBinRestoring(db, clock, config.maxFolderDepth),
      content: createContent(db, blobs, config.s3Redirect),
      contentTokens: createContentTokens(signing, clock),
      diskWatch,
      fileLifetime,
      fileWarnings: createFileWarnings({
        db,
        clock,
        random,
        guard,
        outbox,
        warningEnd,
        outages,
        lifetime: fileLifetime,
      }),
      figures: createFigures({ db, claims, pools, clock }),
      files: createFiles(db, usage),
      folderMoves: createFolderMoves(db, config.maxFolderDepth),
      folderPasswords: createFolderPasswords(access, rates, signing, clock, random),
      folders: createFolders(db, clock, random, config.maxFolderDepth),
      idempotency,
      keys: createKeys(db, clock, random),
      notices,
      mailAddresses: createMailAddresses({ db, clock, rates, proofs, outbox, makeLink }),
      oidc: createOidc({
        db,
        auth,
        rates,
        signing,
        clock,
        sessions,
        signUp,
        knownBrowsers,
        exchange: config.oidc === null ? null : createOidcExchange(config.oidc, clock.monotonic),
        publicUrl,
        report: (reason) => log.warn({ reason }, 'the OpenID Connect server identified nobody'),
      }),
      oneTimeLinks,
      ownAccount,
      passkeys: createPasskeys({ db, auth, rates, proofs, sessions, knownBrowsers, publicUrl }),
      passwordResets: createPasswordResets({ db, clock, rates, outbox, makeLink }),
      ownKeys: createOwnKeys(db, rates, clock, random),
      proofs,
      publicFolders: createPublicFolders(db, access),
      rates,
      readiness: createReadiness(db, health, clock),
      receipts: createReceipts({ db, signing, resumable: resumable.uploads, removals }),
      removals,
      removing,
      reporting: createReporting(db, rates, signing, clock),
      reports,
      resumable: resumable.uploads,
      secondFactor: createSecondFactor(db, auth, proofs),
      sessions,
      signIn: createSignIn({ db, auth, rates, signing, knownBrowsers, publicUrl }),
      signUp,
      statistics,
      takeDowns,
      storageShares: createStorageShares(db, clock),
      thumbnails,
      traffic,
      uploads: createUploads({
        db,
        blobs,
        health,
        hashing,
        rooms,
        thumbnails,
        clock,
        random,
        maxFileSize: config.maxFileSize,
        uploaded: traffic.uploaded,
      }),
      usage,
      warningEnd,
      watching: createWatching(db, clock, failed('changes could not be looked for')),
    }
    const expiry = createExpiry({ db, cleaning, usage, clock, guard, outages, lifetime: fileLifetime })
    const clearing = createFolderClearing(db, clock)
    const jobs = startJobs(
      allJobs({
        usage,
        rates,
        health,
        nodes,
        diskWatch,
        outages,
        expiry,
        cleaning,
        clearing,
        rooms,
        resumable,
        idempotency,
        thumbnails: making,
        reports,
        accounts,
        sessions,
        binRestoring: services.binRestoring,
        binEmptying: services.binEmptying,
        changes: createChanges(db),
        takeDowns,
        notices,
        traffic,
        statistics,
        fileWarnings: services.fileWarnings,
        passwordResets: services.passwordResets,
        mailForgetting: createMailForgetting(db, clock, log),
        sending,
      }),
      claims,
      log,
      metrics?.jobs.begin,
    )
    const endJobs = ending('the background jobs', jobs.stop)
    open.defer(endJobs)
    making?.wake()
    const welcome = await oneTimeLinks.welcome()
    const server = startServer({ config, settings, services, clock, random, log, builtSite, metrics })

    /** Each of them, whatever becomes of the others. */
    async function flush(): Promise<void> {
      const failures: unknown[] = []
      for (const counted of [usage, traffic, rates]) {
        await counted.flush().catch((error: unknown) => failures.push(error))
      }
      if (failures.length === 1) throw failures[0]
      if (failures.length > 1) throw new AggregateError(failures, 'what was counted could not be written')
    }

    return {
      url: server.url,
      welcome,
      runJobs: () => jobs.runAll(),
      flush,
      async stop() {
        try {
          await server.stop()
          await endThumbnails()
          sending?.stop()
          await endJobs()
          // However many there are, and the database itself says when it has had enough.
          await flush()
        } finally {
          await open.disposeAsync()
        }
      },
    }
  } catch (error) {
    await open.disposeAsync()
    throw error
  }
}
