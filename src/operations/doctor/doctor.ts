import type { Config, MailConfig } from '../../config.ts'
import { createSigning } from '../../core/hmac.ts'
import { assertOwnStore } from '../../core/store/pairing.ts'
import type { Database } from '../../database/database.ts'
import { isFull } from '../../database/differences.ts'
import { migrations, missingMigrations } from '../../database/migrate.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import type { Random } from '../../domain/random.ts'
import { versionWithCommit } from '../../program/version.ts'
import { settings } from '../../settings.ts'
import { connect, databaseExists, openBlobs } from '../../storage.ts'
import { type BackgroundJobs, createBackgroundJobs } from '../background-jobs.ts'
import { createIntegrity, type Integrity } from '../integrity.ts'
import { openSecrets, readSecret } from '../secrets.ts'
import { checkDatabase, checkPages } from './database.ts'
import { advice, type Finding, fine, problem, reasonOf, say, unknown } from './findings.ts'
import { checkProxies } from './forwarding.ts'
import { checkClock, checkDisk, checkSettings } from './machine.ts'
import { checkMirror } from './mirror.ts'
import { checkPublicAddress } from './public-address.ts'
import { createProbes } from './raw-request.ts'
import { checkBackups, checkDigests, checkJoins, checkStore, checkStoredBytes } from './store.ts'

export type { Finding } from './findings.ts'

/** Milliseconds for which somebody who waits for an answer waits for the pages of a large database. */
const PAGES_WITHIN = 20 * SECOND

/** A look from inside and through the public address. */
interface Look {
  readonly config: Config
  readonly clock: Clock
  readonly random: Random
  /** Takes the place of the public address in the settings. */
  readonly address: URL | null
  /** Seconds that a proxy must wait for an answer; 0 leaves that check out. */
  readonly silence: number
  /** Logs in at the mail server. */
  readonly tryMail: (mail: MailConfig) => Promise<void>
}

/** What a running server has open. */
interface OpenParts {
  readonly db: Database
  readonly jobs: Pick<BackgroundJobs, 'list'>
  readonly integrity: Pick<Integrity, 'state'>
  readonly probeStore: () => Promise<void>
  /** Admits to the probes of the server. */
  readonly token: () => string
}

/** Findings by what they are about. */
export interface Diagnosis {
  readonly machine: readonly Finding[]
  readonly database: readonly Finding[]
  readonly services: readonly Finding[]
  readonly address: readonly Finding[]
}

/** Looks at an installation from inside, and at its running server through its public address. Changes nothing. */
export async function examine(look: Look): Promise<Diagnosis> {
  const { config } = look
  const hasData = databaseExists(config)
  const [onMachine, inside, pages, around] = await Promise.all([
    checkMachine(config, hasData),
    hasData ? checkInside(look) : noDatabase(config.dataDir),
    hasData ? checkPages(config) : [],
    checkAround(look),
  ])
  return {
    machine: onMachine,
    database: [...inside.database, ...pages],
    services: [...inside.services, ...around],
    address: inside.token === null ? [] : await checkAddress(look, inside.token),
  }
}

/** Looks at the server that it is part of. */
export function createDoctor(look: Omit<Look, 'address' | 'silence'>, parts: OpenParts) {
  let underWay: Promise<Diagnosis> | null = null
  return {
    /** Whoever asks meanwhile gets the same diagnosis. The time-out of proxies is left out: it would outlast the request. */
    examine(): Promise<Diagnosis> {
      underWay ??= examineServer({ ...look, address: null, silence: 0 }, parts).finally(() => {
        underWay = null
      })
      return underWay
    },
  }
}

/** Whether nothing was found that is a problem. */
export function isSound(diagnosis: Diagnosis): boolean {
  return Object.values(diagnosis)
    .flat()
    .every(({ level }) => level !== 'problem')
}

/** The same, by the server itself. */
async function examineServer(look: Look, parts: OpenParts): Promise<Diagnosis> {
  const { config } = look
  const [machine, database, pages, services, bytes, address] = await Promise.all([
    checkMachine(config, true),
    checkDatabase(parts.db, config, look.clock),
    checkPages(config, PAGES_WITHIN),
    Promise.all([
      checkStore(config, parts.probeStore),
      checkDigests(look),
      checkJoins(look),
      checkJobs(parts.jobs),
    ]),
    checkBytes(look, parts),
    checkAddress(look, parts.token()),
  ])
  return {
    machine,
    database: [...database, ...pages],
    services: [...services, ...bytes, ...(await checkAround(look))],
    address,
  }
}

async function checkMachine(config: Config, hasData: boolean): Promise<readonly Finding[]> {
  const usesFolder = config.databaseUrl === null || config.s3 === null
  const disk =
    usesFolder && hasData
      ? await checkDisk(config.dataDir, config.minFreeSpace).catch(notChecked('disk-space'))
      : []
  return [fine('version', say`This is Holdfast ${versionWithCommit()}`), ...disk, await checkClock()]
}

/** What does not need the database. */
async function checkAround(look: Look): Promise<readonly Finding[]> {
  return [...checkSettings(look.config), await checkMail(look)]
}

interface Inside {
  readonly database: readonly Finding[]
  readonly services: readonly Finding[]
  /** Admits to the probes of the server; null without a database that can be used. */
  readonly token: string | null
}

function noDatabase(dataDir: string): Inside {
  const finding = problem(
    'database',
    say`there is no Holdfast data in ${dataDir}`,
    say`No server has run with these settings.`,
    [{ where: 'shell', line: 'run this where the server runs, as its user and with its settings' }],
  )
  return { database: [finding], services: [], token: null }
}

async function checkInside(look: Look): Promise<Inside> {
  const { config, clock, random } = look
  const opened = await connect({ ...look, report() {} }).catch((error: Error) => error)
  if (opened instanceof Error) {
    const why = say`Nothing works without it.`
    const what = isFull(opened)
      ? say`it cannot be used: the disk under it is full`
      : say`it cannot be used: ${reasonOf(opened)}`
    return {
      database: [problem('database', what, why)],
      services: [],
      token: null,
    }
  }
  const { db, close } = opened
  try {
    const missing = await missingMigrations(db)
    if (missing === migrations.length) return noDatabase(config.dataDir)
    const database = await checkDatabase(db, config, clock)
    const isCurrent = missing === 0
    const list = createBackgroundJobs(db, null, clock)
    const ofServer = isCurrent
      ? [
          await checkJobs(list),
          ...(await checkBytes(look, {
            db,
            jobs: list,
            integrity: createIntegrity({ db, clock, config, jobs: list }),
          })),
        ]
      : [unknown('jobs', say`not looked at`)]
    const probeStore = async () => {
      const blobs = await openBlobs({ ...look, report() {} }, false)
      await assertOwnStore(db, blobs)
      await blobs.probe()
    }
    const services = [
      await checkStore(config, probeStore),
      await checkDigests(look),
      await checkJoins(look),
      ...ofServer,
    ]
    const { links } = await openSecrets(db, await readSecret(config.secret), random)
    return { database, services, token: createProbes(createSigning(links), clock).token() }
  } catch (error) {
    return {
      database: [problem('database', say`${reasonOf(error)}`, say`A server cannot start on it.`)],
      services: [],
      token: null,
    }
  } finally {
    await close()
  }
}

async function checkJobs(jobs: Pick<ReturnType<typeof createBackgroundJobs>, 'list'>): Promise<Finding> {
  const standing = (await jobs.list()).filter(({ state }) => state === 'set aside')
  const [first] = standing
  if (first === undefined) return fine('jobs', say`no background job stands still`)
  const names = standing.map(({ name }) => `"${name}"`).join(', ')
  return problem(
    'jobs',
    first.failure === null
      ? say`failed too often, and set aside: ${names}; the log has the reason`
      : say`failed too often, and set aside: ${names}: ${first.failure}`,
    say`What it would remove or make stays as it is.`,
    [{ where: 'shell', line: `holdfast admin jobs retry "${first.name}"` }],
  )
}

async function checkBytes(
  look: Look,
  { db, jobs, integrity }: Pick<OpenParts, 'db' | 'jobs' | 'integrity'>,
): Promise<readonly Finding[]> {
  const { config, clock } = look
  const state = await integrity.state()
  const now = clock.now()
  return [
    await checkProxies(db, config, now),
    ...checkStoredBytes(state, { usesFolder: config.s3 === null, now }),
    await checkMirror({ db, config, clock }, jobs),
    checkBackups(state, config.backup.own, now),
  ]
}

async function checkMail({ config: { mail, signUp }, tryMail }: Look): Promise<Finding> {
  if (mail === null) {
    if (signUp === 'closed') return fine('mail', say`no mail server is configured`)
    return advice(
      'mail',
      say`no mail server is configured`,
      say`Nobody who forgets a password gets a link for a new one.`,
      [{ where: 'Holdfast', line: `${settings.smtpUrl.variable}=smtp://<user>:<password>@<server>:587` }],
    )
  }
  const server = `${mail.host}:${mail.port}`
  try {
    await tryMail(mail)
    return fine('mail', say`${server} lets this server in`)
  } catch (error) {
    return problem('mail', say`${server}: ${reasonOf(error)}`, say`Mails wait and are not delivered.`, [
      {
        where: 'Holdfast',
        line: `${settings.smtpUrl.variable}=smtp://… for port 587, smtps://… for port 465`,
      },
    ])
  }
}

async function checkAddress(look: Look, token: string): Promise<readonly Finding[]> {
  const { config, silence } = look
  const address = look.address ?? (config.publicUrl === null ? null : new URL(config.publicUrl))
  if (address !== null) return checkPublicAddress({ url: address, config, token, silence })
  return [
    advice(
      'public-address',
      say`no public address is set`,
      say`Links begin with the address at which the server listens, which others cannot reach.`,
      [{ where: 'Holdfast', line: `${settings.publicUrl.variable}=https://<the name that people use>` }],
    ),
  ]
}

function notChecked(check: string): (error: unknown) => Finding[] {
  return (error) => [unknown(check, say`${reasonOf(error)}`)]
}
