/** Settings that make one value together. Each reader takes all of its settings, so that every wrong one is told. */
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
  /** Whether addresses carry the bucket in their path, not in front of the host. */
  readonly pathStyle: boolean
}

/** Null keeps blobs in the data folder. */
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

/** The metrics at `/metrics`. `token`: null lets everybody read them. */
export interface MetricsConfig {
  readonly token: string | null
}

export function readMetrics(reader: SettingsReader): MetricsConfig | null {
  const isOn = reader.value(settings.metrics)
  const token = reader.value(settings.metricsToken)
  return isOn ? { token: token === '' ? null : token } : null
}

/** Where the secret of the installation is. */
export type SecretSource =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }

/** Null keeps the secret in the database. */
export function readSecretSource(reader: SettingsReader): SecretSource | null {
  const [text, path] = [reader.value(settings.secret), reader.value(settings.secretFile)]
  if (text !== '') return { kind: 'text', text }
  return path === '' ? null : { kind: 'file', path: resolve(path) }
}

/** A place for bytes: a folder, by its absolute path, or a bucket. */
export type StorePlace =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 's3'; readonly s3: S3Config }

/** How backups are made. */
export interface BackupConfig {
  /** An absolute path; null: backups are not encrypted. */
  readonly passphraseFile: string | null
  /** Null: the key of the store that holds the bytes. */
  readonly s3Key: { readonly accessKeyId: string; readonly secretAccessKey: string } | null
  /** Null: the server makes none by itself. */
  readonly own: OwnBackups | null
}

/** Backups that the server makes by itself. */
export interface OwnBackups {
  readonly place: StorePlace
  /** From the beginning of one to the next. */
  readonly hours: number
  readonly keepDaily: number
  readonly keepWeekly: number
  /** Bytes that are copied in a second at most; null: as fast as it goes. */
  readonly rate: number | null
  /** From one rehearsal of a restore to the next; 0 for none. */
  readonly drillDays: number
  /** An absolute path; null: the folder of the system for temporary files. */
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

/** The second store. */
export interface MirrorConfig {
  readonly place: StorePlace
  /** Bytes that are copied to it in a second at most. */
  readonly rate: number
  /** Days within which all copies are read again; 0 for never. */
  readonly scrubDays: number
}

const USUAL_SCRUB_DAYS = 30

/** Null copies contents nowhere. */
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

/** An OpenID Connect server whose users may sign in. */
export interface OidcConfig {
  /** Without a trailing slash. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The name of the server on the sign-in page. */
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

/** The SMTP server that takes mails, and their sender. */
export interface MailConfig {
  readonly host: string
  readonly port: number
  /** Whether the connection begins with TLS. Otherwise it switches to TLS where the server offers STARTTLS. */
  readonly secure: boolean
  /** Null sends without authentication. */
  readonly login: { readonly user: string; readonly password: string } | null
  /** The name may be empty. */
  readonly from: { readonly name: string; readonly address: MailAddress }
}

/** Null also when one of server and sender is missing, which is refused as a contradiction. */
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
