/** Settings that make one value together. Readers read all of theirs, so that every wrong one is reported. */
import { resolve } from 'node:path'
import { type MailAddress, parseSender } from '../domain/mail-address.ts'
import { settings } from '../settings.ts'
import type { SettingsReader } from './environment.ts'

export interface S3Config {
  /** Without a trailing slash. */
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly pathStyle: boolean
}

export function readS3(reader: SettingsReader): S3Config | null {
  const endpoint = reader.value(settings.s3Endpoint)
  const s3 = {
    bucket: reader.value(settings.s3Bucket),
    region: reader.value(settings.s3Region),
    accessKeyId: reader.value(settings.s3AccessKeyId),
    secretAccessKey: reader.value(settings.s3SecretAccessKey),
    pathStyle: reader.value(settings.s3PathStyle),
  }
  return endpoint === null ? null : { endpoint, ...s3 }
}

/** Without a token, `/metrics` is public. */
export interface MetricsConfig {
  readonly token: string | null
}

export function readMetrics(reader: SettingsReader): MetricsConfig | null {
  const isOn = reader.value(settings.metrics)
  const token = reader.value(settings.metricsToken)
  return isOn ? { token: token === '' ? null : token } : null
}

export type SecretSource =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }

export function readSecretSource(reader: SettingsReader): SecretSource | null {
  const [text, path] = [reader.value(settings.secret), reader.value(settings.secretFile)]
  if (text !== '') return { kind: 'text', text }
  return path === '' ? null : { kind: 'file', path: resolve(path) }
}

/** Paths are absolute. */
export type StorePlace =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 's3'; readonly s3: S3Config }

export interface BackupConfig {
  /** Absolute path; without it, backups are not encrypted. */
  readonly passphraseFile: string | null
  /** Default: the key of the main store. */
  readonly s3Key: { readonly accessKeyId: string; readonly secretAccessKey: string } | null
  readonly own: OwnBackups | null
}

export interface OwnBackups {
  readonly place: StorePlace
  readonly hours: number
  readonly keepDaily: number
  readonly keepWeekly: number
  /** Bytes per second. */
  readonly rate: number | null
  /** Between two test restores; 0 for none. */
  readonly drillDays: number
  /** Absolute path; default: the system's temporary folder. */
  readonly drillFolder: string | null
}

export function readBackup(reader: SettingsReader): BackupConfig {
  const path = reader.value(settings.backupPassphraseFile)
  const accessKeyId = reader.value(settings.backupS3AccessKeyId)
  const secretAccessKey = reader.value(settings.backupS3SecretAccessKey)
  return {
    passphraseFile: path === '' ? null : resolve(path),
    s3Key: accessKeyId === '' ? null : { accessKeyId, secretAccessKey },
    own: readOwnBackups(reader),
  }
}

function readOwnBackups(reader: SettingsReader): OwnBackups | null {
  const place = reader.value(settings.backup)
  const key = reader.value(settings.backupS3AccessKeyId)
  const s3 = {
    region: reader.value(settings.backupS3Region),
    accessKeyId: key === '' ? reader.value(settings.s3AccessKeyId) : key,
    secretAccessKey: reader.value(key === '' ? settings.s3SecretAccessKey : settings.backupS3SecretAccessKey),
    pathStyle: reader.value(settings.backupS3PathStyle),
  }
  const folder = reader.value(settings.drillFolder)
  const times = {
    hours: reader.value(settings.backupHours),
    keepDaily: reader.value(settings.backupKeepDaily),
    keepWeekly: reader.value(settings.backupKeepWeekly),
    rate: reader.value(settings.backupRate),
    drillDays: reader.value(settings.drillDays),
    drillFolder: folder === '' ? null : resolve(folder),
  }
  if (place === null) return null
  if ('folder' in place) return { place: { kind: 'folder', path: resolve(place.folder) }, ...times }
  return { place: { kind: 's3', s3: { ...place, ...s3 } }, ...times }
}

export interface MirrorConfig {
  readonly place: StorePlace
  /** Bytes per second. */
  readonly rate: number
  /** Days within which all copies are verified again; 0 for never. */
  readonly scrubDays: number
}

const USUAL_SCRUB_DAYS = 30

export function readMirror(reader: SettingsReader): MirrorConfig | null {
  const place = reader.value(settings.mirror)
  const rate = reader.value(settings.mirrorRate)
  const days = reader.value(settings.mirrorScrubDays)
  const ownKey = reader.value(settings.mirrorS3AccessKeyId)
  const ownSecret = reader.value(settings.mirrorS3SecretAccessKey)
  const s3 = {
    region: reader.value(settings.mirrorS3Region),
    accessKeyId: ownKey === '' ? reader.value(settings.s3AccessKeyId) : ownKey,
    secretAccessKey: ownKey === '' ? reader.value(settings.s3SecretAccessKey) : ownSecret,
    pathStyle: reader.value(settings.mirrorS3PathStyle),
  }
  if (place === null) return null
  if ('folder' in place) {
    return {
      place: { kind: 'folder', path: resolve(place.folder) },
      rate,
      scrubDays: days ?? USUAL_SCRUB_DAYS,
    }
  }
  return { place: { kind: 's3', s3: { ...place, ...s3 } }, rate, scrubDays: days ?? 0 }
}

export interface OidcConfig {
  /** Without a trailing slash. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly name: string
}

export function readOidc(reader: SettingsReader): OidcConfig | null {
  const issuer = reader.value(settings.oidcIssuer)
  const oidc = {
    clientId: reader.value(settings.oidcClientId),
    clientSecret: reader.value(settings.oidcClientSecret),
    name: reader.value(settings.oidcName),
  }
  return issuer === null ? null : { issuer, ...oidc }
}

export interface MailConfig {
  readonly host: string
  readonly port: number
  /** TLS from the first byte. Otherwise STARTTLS where the server offers it. */
  readonly secure: boolean
  readonly login: { readonly user: string; readonly password: string } | null
  readonly from: { readonly name: string; readonly address: MailAddress }
}

/** Also null when only one of server and sender is set, which is a contradiction. */
export function readMail(reader: SettingsReader): MailConfig | null {
  const [address, from] = [reader.value(settings.smtpUrl), parseSender(reader.value(settings.mailFrom))]
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
