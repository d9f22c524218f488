import { resolve } from 'node:path'
import { contradictions } from './config/contradictions.ts'
import {
  ConfigError,
  type ConfigProblem,
  type Environment,
  fileVariables,
  openToOthers,
  type SecretFile,
  SettingsReader,
  secretFileProblems,
  secretFiles,
  shown,
  withoutPassword,
  written,
} from './config/environment.ts'
import {
  type BackupConfig,
  type MailConfig,
  type MetricsConfig,
  type MirrorConfig,
  type OidcConfig,
  readBackup,
  readMail,
  readMetrics,
  readMirror,
  readOidc,
  readS3,
  readSecretSource,
  type S3Config,
  type SecretSource,
} from './config/setting-groups.ts'
import { clientVariables, type Setting, settings } from './settings.ts'

export { openToOthers }

/** Typed, without contradictions. Sizes are bytes, rates per hour. */
export interface Config {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly dataDir: string
  /** For new files in the data folder. */
  readonly groupRead: boolean
  /** Without a trailing slash; null: the listening address. */
  readonly publicUrl: string | null
  /** Without a trailing slash; null: the public address. */
  readonly contentUrl: string | null
  readonly databaseUrl: string | null
  readonly databaseConnections: number
  readonly databasePrepares: boolean
  /** Null: blobs in the data folder. */
  readonly s3: S3Config | null
  readonly s3Redirect: boolean
  readonly trustedProxies: readonly string[]
  readonly maxFileSize: number
  readonly storageLimit: number
  readonly rateLimit: number
  /** Multiple of `rateLimit` for all keys of an account together; 0: unlimited. */
  readonly accountRateFactor: number
  /** All sessions of an account together. */
  readonly sessionRateLimit: number
  readonly signUp: SignUp
  readonly secret: SecretSource | null
  readonly backup: BackupConfig
  readonly mirror: MirrorConfig | null
  readonly oidc: OidcConfig | null
  readonly mail: MailConfig | null
  /** Hours without a new byte before an unfinished upload is deleted. */
  readonly uploadExpires: number
  readonly guestUploads: boolean
  readonly guestRateLimit: number
  /** Bytes an hour and address. */
  readonly guestHourlySize: number
  readonly guestStorage: number
  readonly minFreeSpace: number
  readonly linkAddresses: boolean
  readonly webhookPrivateNetworks: boolean
  /** 0: unused files are kept. */
  readonly inactiveDays: number
  /** For accounts' files; null: `inactiveDays`. */
  readonly accountInactiveDays: number | null
  readonly binDays: number
  readonly maxFolderDepth: number
  /** Days within which all bytes are verified again; 0 for never; null: the store's default. */
  readonly scrubDays: number | null
  /** Bytes per second. */
  readonly scrubRate: number
  readonly verifyReads: boolean
  readonly shutdownGrace: number
  readonly thumbnails: boolean
  readonly metrics: MetricsConfig | null
  readonly logs: LogsConfig | null
  readonly logLevel: LogLevel
  /** Also unreadable ones. */
  readonly secretFiles: readonly SecretFile[]
}

export interface LogsConfig {
  readonly folder: string
  /** 0: no access log. */
  readonly accessDays: number
  readonly isAnonymous: boolean
}

export type SignUp = 'open' | 'invitation' | 'closed'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Empty variables count as unset. Throws ConfigError for invalid, contradictory or unknown variables. */
export function loadConfig(environment: Environment): Config {
  const reader = new SettingsReader(environment)
  const config = { ...readConfig(reader), secretFiles: secretFiles(environment) }
  const contradicting = contradictions(reader)
  const problems = [
    ...unknownVariables(environment),
    ...secretFileProblems(environment),
    ...reader.problems,
    ...contradicting,
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function readConfig(reader: SettingsReader): Omit<Config, 'secretFiles'> {
  return {
    host: reader.value(settings.host),
    port: reader.value(settings.port),
    dataDir: resolve(reader.value(settings.dataDir)),
    groupRead: reader.value(settings.groupRead),
    publicUrl: reader.value(settings.publicUrl),
    contentUrl: reader.value(settings.contentUrl),
    databaseUrl: reader.value(settings.databaseUrl),
    databaseConnections: reader.value(settings.databaseConnections),
    databasePrepares: reader.value(settings.databasePrepares),
    s3: readS3(reader),
    s3Redirect: reader.value(settings.s3Redirect),
    trustedProxies: reader.value(settings.trustedProxies),
    maxFileSize: reader.value(settings.maxFileSize),
    storageLimit: reader.value(settings.storageLimit),
    rateLimit: reader.value(settings.rateLimit),
    accountRateFactor: reader.value(settings.accountRateFactor),
    sessionRateLimit: reader.value(settings.sessionRateLimit),
    signUp: reader.value(settings.signUp),
    secret: readSecretSource(reader),
    backup: readBackup(reader),
    mirror: readMirror(reader),
    oidc: readOidc(reader),
    mail: readMail(reader),
    uploadExpires: reader.value(settings.uploadExpires),
    guestUploads: reader.value(settings.guestUploads),
    guestRateLimit: reader.value(settings.guestRateLimit),
    guestHourlySize: reader.value(settings.guestHourlySize),
    guestStorage: reader.value(settings.guestStorage),
    minFreeSpace: reader.value(settings.minFreeSpace),
    linkAddresses: reader.value(settings.linkAddresses),
    webhookPrivateNetworks: reader.value(settings.webhookPrivateNetworks),
    inactiveDays: reader.value(settings.inactiveDays),
    accountInactiveDays: reader.value(settings.accountInactiveDays),
    binDays: reader.value(settings.binDays),
    maxFolderDepth: reader.value(settings.maxFolderDepth),
    scrubDays: reader.value(settings.scrubDays),
    scrubRate: reader.value(settings.scrubRate),
    verifyReads: reader.value(settings.verifyReads),
    shutdownGrace: reader.value(settings.shutdownGrace),
    thumbnails: reader.value(settings.thumbnails),
    metrics: readMetrics(reader),
    logs: readLogs(reader),
    logLevel: reader.value(settings.logLevel),
  }
}

function readLogs(reader: SettingsReader): LogsConfig | null {
  const folder = reader.value(settings.logDir)
  const accessDays = reader.value(settings.accessLogDays)
  const isAnonymous = reader.value(settings.accessLogAnonymous)
  return folder === '' ? null : { folder: resolve(folder), accessDays, isAnonymous }
}

export interface SettingInForce {
  readonly variable: string
  /** As in the environment, with secrets masked. */
  readonly value: string
  readonly isDefault: boolean
  readonly isSecret: boolean
  readonly description: string
}

/** `loadConfig` must have accepted the environment. */
export function settingsInForce(environment: Environment): readonly SettingInForce[] {
  return Object.values(settings).map((setting: Setting<unknown>) => {
    const text = written(setting, environment)
    return {
      variable: setting.variable,
      value: shown(setting, text ?? setting.default),
      isDefault: text === undefined,
      isSecret: setting.isSecret === true,
      description: setting.description,
    }
  })
}

const SECRET_NAME = /KEY|SECRET|PASS|TOKEN/
/** Largest edit distance of a suggestion. */
const NEAR = 4

function unknownVariables(environment: Environment): ConfigProblem[] {
  const known = [
    ...Object.values(settings).map(({ variable }) => variable),
    ...fileVariables(),
    ...Object.values(clientVariables),
  ]
  return Object.keys(environment)
    .filter((variable) => variable.startsWith('HOLDFAST_') && !known.includes(variable))
    .map((variable) => ({
      variable,
      // A misspelt name hides whether its value is a secret, so likely names are masked.
      value: SECRET_NAME.test(variable) ? '…' : withoutPassword(environment[variable] ?? ''),
      reason: `there is no such variable; ${suggestion(variable, known)}`,
    }))
}

function suggestion(variable: string, known: readonly string[]): string {
  const [nearest] = known
    .map((name) => ({ name, distance: editDistance(variable, name) }))
    .sort((a, b) => a.distance - b.distance)
  return nearest !== undefined && nearest.distance <= NEAR
    ? `did you mean ${nearest.name}?`
    : '"holdfast config" lists them all'
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1]
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
