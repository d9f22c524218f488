import { resolve } from 'node:path'
import { ConfigError } from './config/config-problems.ts'
import { contradictions } from './config/contradictions.ts'
import { type Environment, SettingsReader, shown, written } from './config/environment.ts'
import { openToOthers, type SecretFile, secretFileProblems, secretFiles } from './config/secret-files.ts'
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
import { unknownVariables } from './config/unknown-variables.ts'
import { type Setting, settings } from './settings.ts'

export { openToOthers }

/** All settings of an installation, typed and free of contradictions. Sizes are bytes, rates are per hour. */
export interface Config {
  readonly host: string
  /** 0 lets the operating system choose one. */
  readonly port: number
  /** An absolute path. */
  readonly dataDir: string
  /** Whether the group of the data folder may read the files that are created in it. */
  readonly groupRead: boolean
  /** The address that links begin with, without a trailing slash; null means the address the server listens at. */
  readonly publicUrl: string | null
  /** Where content is served from, without a trailing slash; null means the public address. */
  readonly contentUrl: string | null
  /** Null means SQLite in the data folder. */
  readonly databaseUrl: string | null
  readonly databaseConnections: number
  readonly databasePrepares: boolean
  /** Null keeps blobs in the data folder. */
  readonly s3: S3Config | null
  /** Whether content addresses redirect to the S3 store. */
  readonly s3Redirect: boolean
  /** Addresses and CIDR ranges whose forwarded headers count. */
  readonly trustedProxies: readonly string[]
  readonly maxFileSize: number
  readonly storageLimit: number
  readonly rateLimit: number
  /** The limit of all keys of an account together, as a multiple of `rateLimit`; 0 sets none. */
  readonly accountRateFactor: number
  /** The limit of all sessions of an account together. */
  readonly sessionRateLimit: number
  readonly signUp: SignUp
  /** Null keeps the secret in the database. */
  readonly secret: SecretSource | null
  readonly backup: BackupConfig
  /** Null keeps no second copy of contents. */
  readonly mirror: MirrorConfig | null
  /** Null offers no sign-in by OpenID Connect. */
  readonly oidc: OidcConfig | null
  /** Null sends no mail. */
  readonly mail: MailConfig | null
  /** Hours without a new byte after which an unfinished upload is deleted. */
  readonly uploadExpires: number
  readonly guestUploads: boolean
  readonly guestRateLimit: number
  /** Bytes that guests of one address may send in an hour. */
  readonly guestHourlySize: number
  readonly guestStorage: number
  readonly minFreeSpace: number
  /** Whether the logs of links say from which addresses they were used. */
  readonly linkAddresses: boolean
  /** Whether webhooks may lead into private networks. */
  readonly webhookPrivateNetworks: boolean
  /** 0 deletes no file for want of use. */
  readonly inactiveDays: number
  /** The same for files of accounts; null: as `inactiveDays`. */
  readonly accountInactiveDays: number | null
  readonly binDays: number
  readonly maxFolderDepth: number
  /** Days within which stored bytes are read again, 0 for never; null: as usual for the kind of store. */
  readonly scrubDays: number | null
  /** Bytes that are read again in a second at most. */
  readonly scrubRate: number
  /** Whether whole downloads are hashed on their way. */
  readonly verifyReads: boolean
  /** Seconds that running uploads get to finish when the server stops. */
  readonly shutdownGrace: number
  /** Whether thumbnails are created and shown. */
  readonly thumbnails: boolean
  /** Null offers no metrics. */
  readonly metrics: MetricsConfig | null
  /** Null writes neither an access log nor one of security events. */
  readonly logs: LogsConfig | null
  readonly logLevel: LogLevel
  /** Files that hold secrets, whether or not they can be read. */
  readonly secretFiles: readonly SecretFile[]
}

/** Files in which a node notes requests and security events. */
export interface LogsConfig {
  readonly folder: string
  /** 0 writes no access log. */
  readonly accessDays: number
  readonly isAnonymous: boolean
}

/** Who may create an account on the site. */
export type SignUp = 'open' | 'invitation' | 'closed'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/**
 * The configuration of an environment, with the defaults for what it leaves out; an empty variable counts as
 * left out. Throws ConfigError for values that are not allowed, contradictions and unknown HOLDFAST_ variables.
 */
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

/** A setting as administrators see it. */
export interface SettingInForce {
  readonly variable: string
  /** As it would be written in the environment, with nothing that is secret. */
  readonly value: string
  readonly isDefault: boolean
  readonly isSecret: boolean
  readonly description: string
}

/** Every setting with what is in force by the environment, which `loadConfig` has taken. */
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
