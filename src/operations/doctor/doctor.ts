import type { MailConfig } from '../../config/setting-groups.ts'
import { createSigning } from '../../core/hmac.ts'
import { MIGRATIONS, missingMigrations } from '../../database/migrate.ts'
import { settings } from '../../settings.ts'
import { connect, databaseExists, openBlobs, type StorageOptions } from '../../storage.ts'
import { createBackgroundJobs } from '../background-jobs.ts'
import { openSecrets, readSecret } from '../secrets.ts'
import { checkDatabase } from './database.ts'
import { advice, type Finding, fine, problem, reasonOf, unknown } from './findings.ts'
import { checkClock, checkDisk } from './machine.ts'
import { createProbes } from './probe-tokens.ts'
import { checkPublicAddress } from './public-address.ts'

export type { Finding } from './findings.ts'

export interface Examination extends StorageOptions {
  /** Takes the place of the public address in the settings. */
  readonly address: URL | null
  /** Seconds that a proxy must wait for an answer; 0 leaves that check out. */
  readonly silence: number
  /** Logs in at the mail server. */
  readonly tryMail: (mail: MailConfig) => Promise<void>
}

/** Findings by what they are about. */
export interface Diagnosis {
  readonly machine: readonly Finding[]
  readonly database: readonly Finding[]
  readonly services: readonly Finding[]
  readonly address: readonly Finding[]
}

/** Looks at an installation from inside, and at its running server through its public address. Changes nothing. */
export async function examine(examination: Examination): Promise<Diagnosis> {
  const { config } = examination
  const usesFolder = config.databaseUrl === null || config.s3 === null
  const hasData = databaseExists(config)
  const disk =
    usesFolder && hasData
      ? checkDisk(config.dataDir, config.minFreeSpace).catch(notChecked('disk-space'))
      : []
  const [onDisk, inside, mail] = await Promise.all([
    disk,
    hasData ? checkInside(examination) : noDatabase(config.dataDir),
    checkMail(examination),
  ])
  return {
    machine: [...onDisk, checkClock()],
    database: inside.database,
    services: [...inside.services, mail],
    address: inside.token === null ? [] : await checkAddress(examination, inside.token),
  }
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
    `there is no Holdfast data in ${dataDir}`,
    'No server has run with these settings.',
    [{ where: 'shell', line: 'run this where the server runs, as its user and with its settings' }],
  )
  return { database: [finding], services: [], token: null }
}

async function checkInside(examination: Examination): Promise<Inside> {
  const { config, clock, random } = examination
  const opened = await connect({ ...examination, report() {} }).catch((error: Error) => error)
  if (opened instanceof Error) {
    const why = 'Nothing works without it.'
    return {
      database: [problem('database', `it cannot be used: ${reasonOf(opened)}`, why)],
      services: [],
      token: null,
    }
  }
  const { db, close } = opened
  try {
    const missing = await missingMigrations(db)
    if (missing === MIGRATIONS) return noDatabase(config.dataDir)
    const database = await checkDatabase(db, config.databaseUrl !== null, clock)
    const isCurrent = missing === 0
    const jobs = isCurrent
      ? await checkJobs(createBackgroundJobs(db, null, clock))
      : unknown('jobs', 'not looked at')
    const services = [await checkStore(examination), jobs]
    const { links } = await openSecrets(db, await readSecret(config.secret), random)
    return { database, services, token: createProbes(createSigning(links), clock).token() }
  } catch (error) {
    return {
      database: [problem('database', reasonOf(error), 'A server cannot start on it.')],
      services: [],
      token: null,
    }
  } finally {
    await close()
  }
}

async function checkStore(examination: Examination): Promise<Finding> {
  const { s3 } = examination.config
  const place = s3 === null ? 'the data folder' : `bucket ${s3.bucket}`
  try {
    await (await openBlobs({ ...examination, report() {} }, false)).probe()
    return fine('store', `${place} takes, returns and removes bytes`)
  } catch (error) {
    const why = 'Files can be neither stored nor opened.'
    const line =
      'let this key read, write, delete and list objects, and list and abort multipart uploads, in this bucket'
    return problem(
      'store',
      `${place}: ${reasonOf(error)}`,
      why,
      s3 === null ? [] : [{ where: 'S3 store', line }],
    )
  }
}

async function checkJobs(jobs: Pick<ReturnType<typeof createBackgroundJobs>, 'list'>): Promise<Finding> {
  const standing = (await jobs.list()).filter(({ state }) => state === 'set aside')
  const [first] = standing
  if (first === undefined) return fine('jobs', 'no background job stands still')
  return problem(
    'jobs',
    `${standing.map(({ name }) => `"${name}"`).join(', ')} failed too often and ${standing.length === 1 ? 'waits' : 'wait'}: ${first.failure ?? 'the log has the reason'}`,
    'What it would remove or make stays as it is.',
    [{ where: 'shell', line: `holdfast admin jobs retry "${first.name}"` }],
  )
}

async function checkMail({ config: { mail, signUp }, tryMail }: Examination): Promise<Finding> {
  if (mail === null) {
    if (signUp === 'closed') return fine('mail', 'no mail server is configured')
    return advice(
      'mail',
      'no mail server is configured',
      'Nobody who forgets a password gets a link for a new one.',
      [{ where: 'Holdfast', line: `${settings.smtpUrl.variable}=smtp://<user>:<password>@<server>:587` }],
    )
  }
  const server = `${mail.host}:${mail.port}`
  try {
    await tryMail(mail)
    return fine('mail', `${server} lets this server in`)
  } catch (error) {
    return problem('mail', `${server}: ${reasonOf(error)}`, 'Mails wait and are not delivered.', [
      {
        where: 'Holdfast',
        line: `${settings.smtpUrl.variable}=smtp://… for port 587, smtps://… for port 465`,
      },
    ])
  }
}

async function checkAddress(examination: Examination, token: string): Promise<readonly Finding[]> {
  const { config, silence } = examination
  const address = examination.address ?? (config.publicUrl === null ? null : new URL(config.publicUrl))
  if (address !== null) return checkPublicAddress({ url: address, config, token, silence })
  return [
    advice(
      'public-address',
      'no public address is set',
      'Links begin with the address at which the server listens, which others cannot reach.',
      [{ where: 'Holdfast', line: `${settings.publicUrl.variable}=https://<the name that people use>` }],
    ),
  ]
}

function notChecked(check: string): (error: unknown) => Finding[] {
  return (error) => [unknown(check, reasonOf(error))]
}
