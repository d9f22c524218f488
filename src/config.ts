import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { type MailAddress, parseSender } from './domain/mail-address.ts'
import { clientVariables, type Setting, settings } from './settings.ts'

/** The settings of one Holdfast, all of them, typed and free of contradictions. Sizes are bytes, rates are per hour. */
export interface Config {
  readonly host: string
  /** 0 lets the system pick one. */
  readonly port: number
  /** An absolute path. */
  readonly dataDir: string
  /** Whether the group of the data folder may read what is made in it. */
  readonly groupRead: boolean
  /** The address people use, without a trailing slash; null means the address the server listens at. */
  readonly publicUrl: string | null
  /** Where content is served from, without a trailing slash; null means the public address. */
  readonly contentUrl: string | null
  /** null means SQLite in the data folder. */
  readonly databaseUrl: string | null
  readonly databaseConnections: number
  /** null means the data folder. */
  readonly s3: S3Config | null
  /** Whether content addresses send the client on to the store. */
  readonly s3Redirect: boolean
  /** Addresses and CIDR ranges whose forwarded headers count. */
  readonly trustedProxies: readonly string[]
  readonly maxFileSize: number
  readonly storageLimit: number
  readonly rateLimit: number
  /** How many times that all keys of an account may use together; 0: no limit together. */
  readonly accountRateFactor: number
  /** The same for an account's sessions together. */
  readonly sessionRateLimit: number
  readonly signUp: SignUp
  /** null: the database keeps it. */
  readonly secret: SecretSource | null
  /** null: nobody signs in by way of another server. */
  readonly oidc: OidcConfig | null
  /** null: no mail is sent. */
  readonly mail: MailConfig | null
  /** Hours without a byte after which an unfinished upload is given up. */
  readonly uploadExpires: number
  readonly guestUploads: boolean
  readonly guestRateLimit: number
  /** Bytes a guest's address may send in an hour. */
  readonly guestHourlySize: number
  readonly guestStorage: number
  readonly minFreeSpace: number
  readonly inactiveDays: number
  readonly binDays: number
  readonly maxFolderDepth: number
  /** Whether thumbnails are made and shown. */
  readonly thumbnails: boolean
  /** null: there are none. `token`: null means that nobody is asked for one. */
  readonly metrics: { readonly token: string | null } | null
  readonly logLevel: LogLevel
}

/** Who may make an account on the site. */
export type SignUp = 'open' | 'invitation' | 'closed'

/** Where the secret of the installation is. */
export type SecretSource =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }

/** An OpenID Connect server whose people may sign in. */
export interface OidcConfig {
  /** Without a trailing slash. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** What people call it. */
  readonly name: string
}

/** Who takes mails over, and who they are from. */
export interface MailConfig {
  readonly host: string
  readonly port: number
  /** Whether the connection begins with TLS. Otherwise it goes over to TLS where the server offers that. */
  readonly secure: boolean
  /** null: nobody signs in there. */
  readonly login: { readonly user: string; readonly password: string } | null
  /** The name may be empty. */
  readonly from: { readonly name: string; readonly address: MailAddress }
}

export interface S3Config {
  /** Without a trailing slash. */
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Whether the bucket stands in the path and not before the host. */
  readonly pathStyle: boolean
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** What the process was started with: `process.env`, where Bun has already put what a `.env` file says. */
export type Environment = Record<string, string | undefined>

/** One wrong variable: what is written there, and what may be. */
export interface ConfigProblem {
  readonly variable: string
  readonly value: string
  readonly reason: string
}

/** The environment asks for something that cannot be. The message lists every wrong variable, a line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(readonly problems: readonly ConfigProblem[]) {
    super(problems.map(({ variable, value, reason }) => `${variable} is "${value}": ${reason}`).join('\n'))
  }
}

/**
 * The settings that the environment gives, with the defaults for what it leaves out; an empty variable counts as
 * left out. Throws ConfigError for values that are not allowed, contradictions and unknown HOLDFAST_ variables.
 */
export function loadConfig(environment: Environment): Config {
  const problems = unknownVariables(environment)
  const read = <T>(setting: Setting<T>): T => {
    const text = written(setting, environment)
    const value = setting.read(text ?? setting.default)
    if (value !== undefined) return value
    problems.push({
      variable: setting.variable,
      value: shown(setting, text ?? ''),
      reason: `allowed is ${setting.allowed}`,
    })
    return defaultOf(setting)
  }
  const config: Config = {
    host: read(settings.host),
    port: read(settings.port),
    dataDir: resolve(read(settings.dataDir)),
    groupRead: read(settings.groupRead),
    publicUrl: read(settings.publicUrl),
    contentUrl: read(settings.contentUrl),
    databaseUrl: read(settings.databaseUrl),
    databaseConnections: read(settings.databaseConnections),
    s3: readS3(read),
    s3Redirect: read(settings.s3Redirect),
    trustedProxies: read(settings.trustedProxies),
    maxFileSize: read(settings.maxFileSize),
    storageLimit: read(settings.storageLimit),
    rateLimit: read(settings.rateLimit),
    accountRateFactor: read(settings.accountRateFactor),
    sessionRateLimit: read(settings.sessionRateLimit),
    signUp: read(settings.signUp),
    secret: readSecretSource(read),
    oidc: readOidc(read),
    mail: readMail(read),
    uploadExpires: read(settings.uploadExpires),
    guestUploads: read(settings.guestUploads),
    guestRateLimit: read(settings.guestRateLimit),
    guestHourlySize: read(settings.guestHourlySize),
    guestStorage: read(settings.guestStorage),
    minFreeSpace: read(settings.minFreeSpace),
    inactiveDays: read(settings.inactiveDays),
    binDays: read(settings.binDays),
    maxFolderDepth: read(settings.maxFolderDepth),
    thumbnails: read(settings.thumbnails),
    metrics: readMetrics(read),
    logLevel: read(settings.logLevel),
  }
  // Contradictions are looked for among values that mean something, or they would accuse the wrong variable.
  if (problems.length === 0) problems.push(...contradictions(config, environment))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
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

/** What the environment says about a setting, without outer spaces, or undefined when it leaves the default. */
export function written(setting: Setting<unknown>, environment: Environment): string | undefined {
  return environment[setting.variable]?.trim() || undefined
}

/** What may be shown of a setting's text: no password, and nothing of a secret. */
export function shown(setting: Setting<unknown>, text: string): string {
  return setting.isSecret && text !== '' ? '…' : withoutPassword(text)
}

/** The text without the passwords that an address may hold, also where they are not encoded as they should be. */
export function withoutPassword(text: string): string {
  return text.replace(/(:\/\/[^:/]*):.*@/, '$1:…@').replace(/([?&](?:ssl)?password=)[^&]*/gi, '$1…')
}

type Read = <T>(setting: Setting<T>) => T

function readS3(read: Read): S3Config | null {
  const endpoint = read(settings.s3Endpoint)
  const s3 = {
    bucket: read(settings.s3Bucket),
    region: read(settings.s3Region),
    accessKeyId: read(settings.s3AccessKeyId),
    secretAccessKey: read(settings.s3SecretAccessKey),
    pathStyle: read(settings.s3PathStyle),
  }
  return endpoint === null ? null : { endpoint, ...s3 }
}

function readMetrics(read: Read): Config['metrics'] {
  const isOn = read(settings.metrics)
  const token = read(settings.metricsToken)
  return isOn ? { token: token === '' ? null : token } : null
}

function readSecretSource(read: Read): SecretSource | null {
  const [text, path] = [read(settings.secret), read(settings.secretFile)]
  if (text !== '') return { kind: 'text', text }
  return path === '' ? null : { kind: 'file', path: resolve(path) }
}

function readOidc(read: Read): OidcConfig | null {
  const issuer = read(settings.oidcIssuer)
  const oidc = {
    clientId: read(settings.oidcClientId),
    clientSecret: read(settings.oidcClientSecret),
    name: read(settings.oidcName),
  }
  return issuer === null ? null : { issuer, ...oidc }
}

function readMail(read: Read): MailConfig | null {
  const [address, from] = [read(settings.smtpUrl), parseSender(read(settings.mailFrom))]
  // One without the other is a contradiction, which is told below.
  if (address === null || from === null) return null
  const { protocol, hostname, port, username, password } = new URL(address)
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

function defaultOf<T>(setting: Setting<T>): T {
  const value = setting.read(setting.default)
  if (value === undefined) throw new Error(`the default of ${setting.variable} is not allowed`)
  return value
}

const SECRET_NAME = /KEY|SECRET|PASS|TOKEN/

function unknownVariables(environment: Environment): ConfigProblem[] {
  const known = [
    ...Object.values(settings).map(({ variable }) => variable),
    ...Object.values(clientVariables),
  ]
  return Object.keys(environment)
    .filter((variable) => variable.startsWith('HOLDFAST_') && !known.includes(variable))
    .map((variable) => ({
      variable,
      // Nobody knows what a misspelt one was meant to hold.
      value: SECRET_NAME.test(variable) ? '…' : withoutPassword(environment[variable] ?? ''),
      reason: `there is no such variable; ${suggestion(variable, known)}`,
    }))
}

function contradictions(config: Config, environment: Environment): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const roomiest = Math.max(config.storageLimit, config.guestUploads ? config.guestStorage : 0)
  const maxFileSize = written(settings.maxFileSize, environment)
  if (maxFileSize !== undefined && config.maxFileSize > roomiest) {
    const guests = config.guestUploads ? ` or ${settings.guestStorage.variable}` : ''
    problems.push({
      variable: settings.maxFileSize.variable,
      value: maxFileSize,
      reason: `nobody may store so much; allowed is up to ${settings.storageLimit.variable}${guests}`,
    })
  }
  if (config.publicUrl?.startsWith('https:') && config.contentUrl?.startsWith('http:')) {
    problems.push({
      variable: settings.contentUrl.variable,
      value: config.contentUrl,
      reason: `browsers refuse http content on an https page; allowed is https, as ${settings.publicUrl.variable} has it`,
    })
  }
  const { metrics, metricsToken } = settings
  if (config.metrics === null && written(metricsToken, environment) !== undefined) {
    problems.push({
      variable: metricsToken.variable,
      value: shown(metricsToken, written(metricsToken, environment) ?? ''),
      reason: `it means nothing without ${metrics.variable}=on; set that too, or leave this out`,
    })
  }
  problems.push(
    ...s3Contradictions(config, environment),
    ...oidcContradictions(config, environment),
    ...mailContradictions(environment),
    ...secretContradictions(environment),
  )
  return problems
}

/** 10,000 parts of what an upload may keep in memory of each: see docs/decisions/020-s3.md. */
const LARGEST_IN_S3 = 230 * 1024 ** 3

function s3Contradictions(config: Config, environment: Environment): ConfigProblem[] {
  const { s3Endpoint, s3Bucket, s3AccessKeyId, s3SecretAccessKey, s3Redirect } = settings
  const needed = [s3Bucket, s3AccessKeyId, s3SecretAccessKey]
  const isWritten = (setting: Setting<unknown>) => written(setting, environment) !== undefined
  if (config.s3 !== null) {
    const { maxFileSize } = settings
    if (config.maxFileSize > LARGEST_IN_S3) {
      return [
        {
          variable: maxFileSize.variable,
          value: written(maxFileSize, environment) ?? '',
          reason: 'a file of this size cannot be written to an S3 store part by part; allowed is up to 230GB',
        },
      ]
    }
    if (!config.s3.pathStyle && isIP(new URL(config.s3.endpoint).hostname.replace(/^\[|\]$/g, '')) !== 0) {
      const { s3PathStyle } = settings
      return [
        {
          variable: s3PathStyle.variable,
          value: written(s3PathStyle, environment) ?? s3PathStyle.default,
          reason: `${s3Endpoint.variable} is an IP address, which has no name for each bucket; set this to true`,
        },
      ]
    }
    return needed
      .filter((setting) => !isWritten(setting))
      .map(({ variable, allowed }) => ({
        variable,
        value: '',
        reason: `${s3Endpoint.variable} is set, so this is needed too: ${allowed}`,
      }))
  }
  // The key may stand there by itself: "holdfast relocate" needs it while the store is still to come.
  return [s3Bucket, s3Redirect].filter(isWritten).map(({ variable }: Setting<unknown>) => ({
    variable,
    value: environment[variable] ?? '',
    reason: `it means nothing without ${s3Endpoint.variable}; set that too, or leave this out`,
  }))
}

function oidcContradictions(config: Config, environment: Environment): ConfigProblem[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcName, publicUrl } = settings
  const isWritten = (setting: Setting<unknown>) => written(setting, environment) !== undefined
  if (config.oidc !== null) {
    // The other server sends people back to an address that it was told beforehand.
    return [oidcClientId, oidcClientSecret, publicUrl]
      .filter((setting) => !isWritten(setting))
      .map(({ variable, allowed }) => ({
        variable,
        value: '',
        reason: `${oidcIssuer.variable} is set, so this is needed too: ${allowed}`,
      }))
  }
  return [oidcClientId, oidcName].filter(isWritten).map((setting: Setting<unknown>) => ({
    variable: setting.variable,
    value: shown(setting, environment[setting.variable] ?? ''),
    reason: `it means nothing without ${oidcIssuer.variable}; set that too, or leave this out`,
  }))
}

function secretContradictions(environment: Environment): ConfigProblem[] {
  const { secret, secretFile } = settings
  const path = written(secretFile, environment)
  if (path === undefined || written(secret, environment) === undefined) return []
  const reason = `${secret.variable} is set as well; leave one of them out`
  return [{ variable: secretFile.variable, value: path, reason }]
}

function mailContradictions(environment: Environment): ConfigProblem[] {
  const { smtpUrl, mailFrom, publicUrl } = settings
  const isWritten = (setting: Setting<unknown>) => written(setting, environment) !== undefined
  if (isWritten(smtpUrl)) {
    // Who reads a mail is somewhere else: only an address that was given leads them back.
    return [mailFrom, publicUrl]
      .filter((setting) => !isWritten(setting))
      .map(({ variable, allowed }) => ({
        variable,
        value: '',
        reason: `${smtpUrl.variable} is set, so this is needed too: ${allowed}`,
      }))
  }
  return [mailFrom].filter(isWritten).map(({ variable }) => ({
    variable,
    value: environment[variable] ?? '',
    reason: `it means nothing without ${smtpUrl.variable}; set that too, or leave this out`,
  }))
}

function suggestion(variable: string, known: readonly string[]): string {
  const [nearest] = known
    .map((name) => ({ name, distance: editDistance(variable, name) }))
    .sort((a, b) => a.distance - b.distance)
  return nearest !== undefined && nearest.distance <= 4
    ? `did you mean ${nearest.name}?`
    : '"holdfast config" lists them all'
}

/** Levenshtein's distance: how many characters must be put in, taken out or changed. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1]
    for (const [column, other] of [...to].entries()) {
      const changed = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
