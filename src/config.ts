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
import { type BucketAddress, clientVariables, type Setting, type SettingPart, settings } from './settings.ts'

export { openToOthers }

type Settings = typeof settings
type Values = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer Value> ? Value : never
}
type Fields = {
  readonly [Name in keyof Settings as Settings[Name] extends SettingPart<unknown>
    ? never
    : Name]: Values[Name]
}
type Groups = ReturnType<typeof groupsOf>

/** Typed, without contradictions. Sizes are bytes, rates per hour. */
export interface Config extends Fields, Readonly<Groups> {
  /** Also unreadable ones. */
  readonly secretFiles: readonly SecretFile[]
}

export type OwnBackups = NonNullable<Config['backup']['own']>
export type MirrorConfig = NonNullable<Config['mirror']>
export type OidcConfig = NonNullable<Config['oidc']>
export type MailConfig = NonNullable<Config['mail']>

/** Empty variables count as unset. Throws ConfigError for invalid, contradictory or unknown variables. */
export function loadConfig(environment: Environment): Config {
  const reader = new SettingsReader(environment)
  const values = valuesOf(reader)
  const config = { ...fieldsOf(values), ...groupsOf(values), secretFiles: secretFiles(environment) }
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

/** Reads every setting, so that each wrong one is reported, and a wrong one as its default. */
function valuesOf(reader: SettingsReader): Values
function valuesOf(reader: SettingsReader): object {
  const every: readonly (readonly [string, Setting<unknown>])[] = Object.entries(settings)
  return Object.fromEntries(every.map(([name, setting]) => [name, reader.value(setting)]))
}

function fieldsOf(values: Values): Fields
function fieldsOf(values: Readonly<Record<string, unknown>>): object {
  const fields = Object.entries(settings).filter(([, setting]) => !('isPart' in setting))
  return Object.fromEntries(fields.map(([name]) => [name, values[name]]))
}

/** Fields of `Config` that several settings make together; null where the feature is off. */
function groupsOf(values: Values) {
  return {
    s3: s3Of(values),
    secret: secretOf(values),
    backup: backupOf(values),
    mirror: mirrorOf(values),
    oidc: oidcOf(values),
    mail: mailOf(values),
    /** Without a token, `/metrics` is public. */
    metrics: values.metrics ? { token: values.metricsToken } : null,
    logs: logsOf(values),
  }
}

export type S3Config = BucketAddress & Readonly<ReturnType<typeof bucketAccess>>

function s3Of(values: Values): S3Config | null {
  const { s3Endpoint: endpoint, s3Bucket: bucket } = values
  return endpoint === null ? null : { endpoint, bucket, ...bucketAccess(values, 's3') }
}

/** A backup or mirror without a key of its own uses that of the main store. */
function bucketAccess(values: Values, of: 's3' | 'backupS3' | 'mirrorS3') {
  const key = values[`${of}AccessKeyId`] === '' ? 's3' : of
  return {
    region: values[`${of}Region`],
    accessKeyId: values[`${key}AccessKeyId`],
    secretAccessKey: values[`${key}SecretAccessKey`],
    pathStyle: values[`${of}PathStyle`],
  }
}

/** Paths are absolute. */
export type StorePlace =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 's3'; readonly s3: S3Config }

function placeOf(values: Values, of: 'backup' | 'mirror'): StorePlace | null {
  const place = values[of]
  if (place === null) return null
  if ('folder' in place) return { kind: 'folder', path: place.folder }
  return { kind: 's3', s3: { ...place, ...bucketAccess(values, `${of}S3`) } }
}

export type SecretSource =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }

function secretOf({ secret, secretFile }: Values): SecretSource | null {
  if (secret !== null) return { kind: 'text', text: secret }
  return secretFile === null ? null : { kind: 'file', path: secretFile }
}

function backupOf(values: Values) {
  const { backupS3AccessKeyId: accessKeyId, backupS3SecretAccessKey: secretAccessKey } = values
  return {
    /** Without it, backups are not encrypted. */
    passphraseFile: values.backupPassphraseFile,
    /** Null: the key of the main store. */
    s3Key: accessKeyId === '' ? null : { accessKeyId, secretAccessKey },
    own: ownBackupsOf(values),
  }
}

function ownBackupsOf(values: Values) {
  const place = placeOf(values, 'backup')
  if (place === null) return null
  return {
    place,
    hours: values.backupHours,
    keepDaily: values.backupKeepDaily,
    keepWeekly: values.backupKeepWeekly,
    /** Bytes per second. */
    rate: values.backupRate,
    /** Between two test restores; 0 for none. */
    drillDays: values.drillDays,
    /** Null: the system's temporary folder. */
    drillFolder: values.drillFolder,
  }
}

const USUAL_SCRUB_DAYS = 30

function mirrorOf(values: Values) {
  const place = placeOf(values, 'mirror')
  if (place === null) return null
  const usualDays = place.kind === 'folder' ? USUAL_SCRUB_DAYS : 0
  return {
    place,
    /** Bytes per second. */
    rate: values.mirrorRate,
    /** Days within which all copies are verified again; 0 for never. */
    scrubDays: values.mirrorScrubDays ?? usualDays,
  }
}

function oidcOf({ oidcIssuer: issuer, oidcClientId, oidcClientSecret, oidcName }: Values) {
  if (issuer === null) return null
  return { issuer, clientId: oidcClientId, clientSecret: oidcClientSecret, name: oidcName }
}

/** Also null when only one of server and sender is set, which is a contradiction. */
function mailOf({ smtpUrl, mailFrom: from }: Values) {
  if (smtpUrl === null || from === null) return null
  const { protocol, hostname, port, username, password } = new URL(smtpUrl)
  /** TLS from the first byte. Otherwise STARTTLS where the server offers it. */
  const secure = protocol === 'smtps:'
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    login:
      username === '' ? null : { user: decodeURIComponent(username), password: decodeURIComponent(password) },
    from,
  }
}

function logsOf({ logDir, accessLogDays, accessLogAnonymous }: Values) {
  if (logDir === null) return null
  return { folder: logDir, accessDays: accessLogDays, isAnonymous: accessLogAnonymous }
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
