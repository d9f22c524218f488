import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { type Accent, accentOrNull } from './domain/accent.ts'
import { MOST_INACTIVE_DAYS } from './domain/account.ts'
import { isPostgresAddress } from './domain/addresses.ts'
import { MAX_SITE_NAME, siteNameOrNull } from './domain/branding.ts'
import { wholeNumber } from './domain/ids.ts'
import { parseSender } from './domain/mail-address.ts'
import { parseSize } from './domain/sizes.ts'

export interface Setting<T> extends Reading<T> {
  readonly variable: string
  /** As in the environment; for an empty text, the meaning of an unset variable. */
  readonly default: string
  readonly description: string
}

/** Makes a field of `Config` together with others. */
export interface SettingPart<T> extends Setting<T> {
  readonly isPart: true
}

interface Reading<T> {
  /** Continues after "allowed". */
  readonly allowed: string
  /** `text`: trimmed. Undefined: not allowed. */
  readonly read: (text: string) => T | undefined
  readonly isSecret?: true
  readonly holdsPassword?: true
}

/** Every variable; those that are no part are in `Config` under the name that they have here. */
// biome-ignore format: variable, default and what is allowed in one line, the description in another
export const settings = {
  host: setting('HOLDFAST_HOST', '127.0.0.1', host(),
    'The address to listen at; 0.0.0.0 or :: for every network of the machine.'),
  port: setting('HOLDFAST_PORT', '3000', whole(0, 65_535),
    'The port to listen at; 0 lets the system pick one.'),
  dataDir: setting('HOLDFAST_DATA_DIR', './data', folder('a path, from the folder where the program starts; ~ is not understood here'),
    'The folder for the database and the files. It is made when it is missing.'),
  groupRead: setting('HOLDFAST_GROUP_READ', 'off', onOff(),
    'Whether the group of the data folder may read what is in it, such as a group that makes backups. Nobody else ever may.'),
  siteName: setting('HOLDFAST_SITE_NAME', '', siteNamed(),
    'What the site is called in the head of its pages, in titles and in mails. Without it, Holdfast; the administration may say otherwise.'),
  accent: setting('HOLDFAST_ACCENT', '', accentColour(),
    'The colour of the one action of a page, and of links. Without it, teal; the administration may say otherwise.'),
  publicUrl: setting('HOLDFAST_PUBLIC_URL', '', address(),
    'The address that links begin with. Without it, the address the server listens at.'),
  contentUrl: setting('HOLDFAST_CONTENT_URL', '', address(),
    'The address that the bytes of files are served from. Without it, the public address.'),
  databaseUrl: setting('HOLDFAST_DATABASE_URL', '', postgresAddress(),
    'The PostgreSQL database that nodes share. Without it, a SQLite database in the data folder.'),
  databaseConnections: setting('HOLDFAST_DATABASE_CONNECTIONS', '20', whole(2, 1000),
    'Connections that this node may keep to PostgreSQL.'),
  databasePrepares: setting('HOLDFAST_DATABASE_PREPARES', 'true', trueFalse(),
    'Whether PostgreSQL prepares frequent statements once a connection. For PgBouncer before 1.21 in transaction mode, turn it off.'),
  s3Endpoint: part('HOLDFAST_S3_ENDPOINT', '', address(),
    'The S3-compatible store for the bytes. Without it, they lie in the data folder.'),
  s3Bucket: part('HOLDFAST_S3_BUCKET', '', bucketName(),
    'The bucket. It is made when it is missing and the store allows that.'),
  s3Region: part('HOLDFAST_S3_REGION', 'us-east-1', region(),
    'The region that requests to the store are signed for.'),
  s3AccessKeyId: part('HOLDFAST_S3_ACCESS_KEY_ID', '', text('the id of an access key'),
    'Who asks the store.'),
  s3SecretAccessKey: part('HOLDFAST_S3_SECRET_ACCESS_KEY', '', secret('the secret of an access key'),
    'The secret of that access key.'),
  s3PathStyle: part('HOLDFAST_S3_PATH_STYLE', 'false', trueFalse(),
    'Whether the bucket is named in the path (https://host/bucket) instead of the host name.'),
  s3Redirect: setting('HOLDFAST_S3_REDIRECT', 'false', trueFalse(),
    'Whether downloads of what anybody may open are sent on to the store, by addresses signed for half an hour.'),
  trustedProxies: setting('HOLDFAST_TRUSTED_PROXIES', '', networks(),
    'Proxies whose forwarded headers tell the address of the visitor.'),
  maxFileSize: setting('HOLDFAST_MAX_FILE_SIZE', '10GB', size(1),
    'The largest file.'),
  storageLimit: setting('HOLDFAST_STORAGE_LIMIT', '10GB', size(1),
    'What the files of one account may take together.'),
  rateLimit: setting('HOLDFAST_RATE_LIMIT', '1000', whole(1, 1_000_000_000),
    'Requests that one API key may make in an hour.'),
  accountRateFactor: setting('HOLDFAST_ACCOUNT_RATE_FACTOR', '10', whole(0, 1_000_000),
    'How many times HOLDFAST_RATE_LIMIT all API keys of an account may use together in an hour; 0: no limit together.'),
  sessionRateLimit: setting('HOLDFAST_SESSION_RATE_LIMIT', '20000', whole(1, 1_000_000_000),
    'Requests that one account may make in an hour from browsers where it is signed in.'),
  signUp: setting('HOLDFAST_SIGN_UP', 'invitation', oneOf('open', 'invitation', 'closed'),
    'Who may make an account on the site: anybody, whoever has an invitation from an administrator, or nobody.'),
  secret: part('HOLDFAST_SECRET', '', optional(secret('32 to 1024 characters', /^.{32,1024}$/s)),
    'What the server signs and encrypts with. Without it, a secret that lies in the database.'),
  secretFile: part('HOLDFAST_SECRET_FILE', '', optional(path()),
    'A file that holds that secret, instead.'),
  backup: part('HOLDFAST_BACKUP', '', place('backup'),
    'A place for backups, which the server then makes by itself. Without it, only "holdfast backup" makes some.'),
  backupHours: part('HOLDFAST_BACKUP_HOURS', '24', whole(1, 8760),
    'Hours from the beginning of one backup that the server makes to the next.'),
  backupKeepDaily: part('HOLDFAST_BACKUP_KEEP_DAILY', '7', whole(1, 9999),
    'The newest backup of each of so many days is kept.'),
  backupKeepWeekly: part('HOLDFAST_BACKUP_KEEP_WEEKLY', '4', whole(0, 9999),
    'The newest backup of each of so many weeks is kept too.'),
  backupRate: part('HOLDFAST_BACKUP_RATE', '', optional(size(1)),
    'How much is copied to the backup that the server makes in a second at most. Without it, as much as goes.'),
  drillDays: part('HOLDFAST_DRILL_DAYS', '7', whole(0, 365),
    'Days from one rehearsal of a restore, which the server does by itself, to the next; 0 for none.'),
  drillFolder: part('HOLDFAST_DRILL_FOLDER', '', optional(folder('a path')),
    'A folder with room for all of the backup, for such rehearsals. Without it, the one of the system for temporary files.'),
  backupPassphraseFile: part('HOLDFAST_BACKUP_PASSPHRASE_FILE', '', optional(path()),
    'A file with the passphrase that backups are encrypted with. Without it, they are not.'),
  backupS3AccessKeyId: part('HOLDFAST_BACKUP_S3_ACCESS_KEY_ID', '', text('the id of an access key'),
    'Who asks the store of a backup. Without it, the key of the store for the bytes.'),
  backupS3SecretAccessKey: part('HOLDFAST_BACKUP_S3_SECRET_ACCESS_KEY', '', secret('the secret of an access key'),
    'The secret of that access key.'),
  backupS3Region: part('HOLDFAST_BACKUP_S3_REGION', 'us-east-1', region(),
    'The region that requests to the store of HOLDFAST_BACKUP are signed for.'),
  backupS3PathStyle: part('HOLDFAST_BACKUP_S3_PATH_STYLE', 'false', trueFalse(),
    'Whether the bucket of HOLDFAST_BACKUP is named in the path instead of the host name.'),
  mirror: part('HOLDFAST_MIRROR', '', place('mirror'),
    'A second store, which gets a copy of every content and from which damaged ones are brought back. Without it, there is none.'),
  mirrorRate: part('HOLDFAST_MIRROR_RATE', '64MB', size(1),
    'How much is copied to the mirror, or back, in a second at most, by one node at a time.'),
  mirrorScrubDays: part('HOLDFAST_MIRROR_SCRUB_DAYS', '', optional(whole(0, 3650)),
    'Days within which all copies in the mirror are read again, at HOLDFAST_SCRUB_RATE, and made anew where they are damaged; 0 for never. Without it, 30 for a folder and never for S3.'),
  mirrorS3AccessKeyId: part('HOLDFAST_MIRROR_S3_ACCESS_KEY_ID', '', text('the id of an access key'),
    'Who asks the store of the mirror. Without it, the key of the store for the bytes.'),
  mirrorS3SecretAccessKey: part('HOLDFAST_MIRROR_S3_SECRET_ACCESS_KEY', '', secret('the secret of an access key'),
    'The secret of that access key.'),
  mirrorS3Region: part('HOLDFAST_MIRROR_S3_REGION', 'us-east-1', region(),
    'The region that requests to the store of the mirror are signed for.'),
  mirrorS3PathStyle: part('HOLDFAST_MIRROR_S3_PATH_STYLE', 'false', trueFalse(),
    'Whether the bucket of the mirror is named in the path instead of the host name.'),
  oidcIssuer: part('HOLDFAST_OIDC_ISSUER', '', issuer(),
    'An OpenID Connect server whose people may sign in here, by its issuer.'),
  oidcClientId: part('HOLDFAST_OIDC_CLIENT_ID', '', text('the id of a client of that server'),
    'What that server calls this one.'),
  oidcClientSecret: part('HOLDFAST_OIDC_CLIENT_SECRET', '', secret('the secret of a client of that server'),
    'The secret of that client.'),
  oidcName: part('HOLDFAST_OIDC_NAME', 'OpenID Connect', text('a name of up to 40 characters', /^.{0,40}$/s),
    'What people call that server: it stands on the button that leads there.'),
  smtpUrl: part('HOLDFAST_SMTP_URL', '', smtpAddress(),
    'The server that mails are handed to. Without it none are sent, and everything else works.'),
  mailFrom: part('HOLDFAST_MAIL_FROM', '', sender(),
    'Who mails are from.'),
  uploadExpires: setting('HOLDFAST_UPLOAD_EXPIRES', '24', whole(1, 8760),
    'Hours without a byte after which an unfinished resumable upload is given up; one of which no byte has come waits for one hour.'),
  guestUploads: setting('HOLDFAST_GUEST_UPLOADS', 'true', trueFalse(),
    'Whether anybody may upload without an account.'),
  guestRateLimit: setting('HOLDFAST_GUEST_RATE_LIMIT', '1000', whole(1, 1_000_000_000),
    'Uploads that guests at one address may make in an hour.'),
  guestHourlySize: setting('HOLDFAST_GUEST_HOURLY_SIZE', '50GB', size(1),
    'What guests at one address may upload in an hour.'),
  guestStorage: setting('HOLDFAST_GUEST_STORAGE', '500GB', size(1),
    'What the files of all guests may take together.'),
  minFreeSpace: setting('HOLDFAST_MIN_FREE_SPACE', '2GB', size(0),
    'Uploads stop when the disk under the data folder has less room than this, if files or SQLite are on it; those of guests stop at twice as much where files are.'),
  linkAddresses: setting('HOLDFAST_LINK_ADDRESSES', 'false', trueFalse(),
    'Whether the log of a link, which its owner reads, says from which addresses it was used. Kept for 90 days.'),
  webhookPrivateNetworks: setting('HOLDFAST_WEBHOOK_PRIVATE_NETWORKS', 'false', trueFalse(),
    'Whether webhooks, which everybody with an account may add, are also sent into private networks and to this machine.'),
  inactiveDays: setting('HOLDFAST_INACTIVE_DAYS', '45', whole(0, MOST_INACTIVE_DAYS),
    'Days without a view or a download after which a file is deleted; 0 for never.'),
  accountInactiveDays: setting('HOLDFAST_ACCOUNT_INACTIVE_DAYS', '', optional(whole(0, MOST_INACTIVE_DAYS)),
    'The same days for files of accounts, unless an administrator gives an account days of its own; 0 for never. Without it, those of HOLDFAST_INACTIVE_DAYS.'),
  binDays: setting('HOLDFAST_BIN_DAYS', '7', whole(1, 36_500),
    'Days after which what is in the bin is deleted for good.'),
  maxFolderDepth: setting('HOLDFAST_MAX_FOLDER_DEPTH', '256', whole(1, 1000),
    'How many levels of folders may be nested.'),
  scrubDays: setting('HOLDFAST_SCRUB_DAYS', '', optional(whole(0, 3650)),
    'Days within which all stored bytes are read again and compared with their hashes; 0 for never. Without it, 30 for a data folder and never for S3.'),
  scrubRate: setting('HOLDFAST_SCRUB_RATE', '16MB', size(1),
    'How much of them is read in a second at most, on one node at a time.'),
  verifyReads: setting('HOLDFAST_VERIFY_READS', 'false', trueFalse(),
    'Whether whole downloads are hashed on their way, and broken off before the last byte when their bytes are not those that were stored.'),
  shutdownGrace: setting('HOLDFAST_SHUTDOWN_GRACE', '30', whole(0, 3600),
    'Seconds that running uploads may take to end when the server is told to stop. A service manager has to wait for longer than that.'),
  thumbnails: setting('HOLDFAST_THUMBNAILS', 'true', trueFalse(),
    'Whether pictures get thumbnails and, where ffmpeg is installed, videos get posters.'),
  metrics: part('HOLDFAST_METRICS', 'off', onOff(),
    'Whether /metrics tells Prometheus how this node does.'),
  metricsToken: part('HOLDFAST_METRICS_TOKEN', '', optional(secret('16 to 255 letters, digits and - . _ ~ + / =', /^[A-Za-z0-9._~+/=-]{16,255}$/)),
    'What Prometheus has to send as its bearer token. Without it, whoever reaches /metrics reads it.'),
  logDir: part('HOLDFAST_LOG_DIR', '', optional(path('the path of a folder of this node alone')),
    'The folder for the access log and for the log of refused sign-ins and keys, which fail2ban reads. Without it, neither is written.'),
  accessLogDays: part('HOLDFAST_ACCESS_LOG_DAYS', '14', whole(0, 3650),
    'Days after which a day of the access log is deleted; 0 writes no access log.'),
  accessLogAnonymous: part('HOLDFAST_ACCESS_LOG_ANONYMOUS', 'false', trueFalse(),
    'Whether the access log has networks (/24, /48) in place of addresses, and neither accounts nor agents.'),
  logLevel: setting('HOLDFAST_LOG_LEVEL', 'info', oneOf('debug', 'info', 'warn', 'error', 'silent'),
    'The least important lines that the log still shows.'),
}

/** For client commands. A server only tolerates them. */
export const clientVariables = {
  server: 'HOLDFAST_SERVER',
  apiKey: 'HOLDFAST_API_KEY',
  password: 'HOLDFAST_PASSWORD',
} as const

function setting<T>(
  variable: string,
  fallback: string,
  reading: Reading<T>,
  description: string,
): Setting<T> {
  return { variable, default: fallback, description, ...reading }
}

function part<T>(...row: Parameters<typeof setting<T>>): SettingPart<T> {
  return { ...setting(...row), isPart: true }
}

/** Null for an empty text. */
function optional<T>(reading: Reading<T>): Reading<T | null> {
  return { ...reading, read: (text) => (text === '' ? null : reading.read(text)) }
}

function text(allowed: string, form = /^/): Reading<string> {
  return { allowed, read: (given) => (form.test(given) ? given : undefined) }
}

function secret(allowed: string, form?: RegExp): Reading<string> {
  return { ...text(allowed, form), isSecret: true }
}

/** An absolute path. */
function path(allowed = 'a path'): Reading<string> {
  return { allowed, read: (given) => (given.includes('\0') ? undefined : resolve(given)) }
}

/** `path`, without the shell's ~, which would become a folder of that name. */
function folder(allowed = 'a path'): Reading<string> {
  return { allowed, read: (given) => (given.startsWith('~') ? undefined : path().read(given)) }
}

function oneOf<const Word extends string>(...words: readonly Word[]): Reading<Word> {
  return {
    allowed: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
    read: (given) => words.find((word) => word === given.toLowerCase()),
  }
}

function onOff(): Reading<boolean> {
  return {
    allowed: 'on or off',
    read: (given) => (/^(on|off)$/i.test(given) ? given.toLowerCase() === 'on' : undefined),
  }
}

function trueFalse(): Reading<boolean> {
  return {
    allowed: 'true or false',
    read(given) {
      if (/^(true|1)$/i.test(given)) return true
      return /^(false|0)$/i.test(given) ? false : undefined
    },
  }
}

function whole(least: number, most: number): Reading<number> {
  return {
    allowed: `a whole number from ${least} to ${most}`,
    read(given) {
      const value = wholeNumber(given) ?? -1
      return value >= least && value <= most ? value : undefined
    },
  }
}

/** In bytes. */
function size(least: 0 | 1): Reading<number> {
  return {
    allowed: `a size such as 500MB or 10GB (units of 1024; B, KB, MB, GB, TB)${least === 1 ? ', not 0' : ''}`,
    read(given) {
      const bytes = parseSize(given)
      return bytes === null || bytes < least ? undefined : bytes
    },
  }
}

/** Paths start at the root, so addresses have none. No trailing slash. */
function address(): Reading<string | null> {
  return optional({
    allowed: 'an http or https address without a path, such as https://files.example.org',
    read(given) {
      const url = URL.parse(given)
      if (url === null || !/^https?:$/.test(url.protocol)) return undefined
      const bare = url.username === '' && url.password === '' && url.pathname === '/'
      return bare && !/[?#]/.test(given) ? url.origin : undefined
    },
  })
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

function bucketName(): Reading<string> {
  return {
    allowed: 'the name of a bucket: 3 to 63 of a-z, 0-9, dots and dashes',
    read: (given) => (given === '' || BUCKET.test(given) ? given : undefined),
  }
}

function region(): Reading<string> {
  return text('a name such as us-east-1', /^[A-Za-z0-9-]{1,64}$/)
}

/** Folders are absolute. */
export type WrittenPlace = { readonly folder: string } | BucketAddress

export interface BucketAddress {
  /** Without a trailing slash. */
  readonly endpoint: string
  readonly bucket: string
}

export function readBucketAddress(given: string): BucketAddress | undefined {
  const url = URL.parse(given)
  if (url === null || url.username !== '' || url.password !== '' || /[?#]/.test(given)) return undefined
  const [bucket = '', ...rest] = url.pathname.slice(1).replace(/\/$/, '').split('/')
  const endpoint = address().read(url.origin)
  return endpoint && rest.length === 0 && BUCKET.test(bucket) ? { endpoint, bucket } : undefined
}

function place(bucket: string): Reading<WrittenPlace | null> {
  return optional({
    allowed: `a path of a folder of its own, or the address of an S3-compatible service with a bucket, such as https://s3.example.org/${bucket}`,
    read(given) {
      if (/^https?:/.test(given)) return readBucketAddress(given)
      const absolute = folder().read(given)
      return absolute === undefined ? undefined : { folder: absolute }
    },
  })
}

/** Without a trailing slash. */
function issuer(): Reading<string | null> {
  return optional({
    allowed: 'an http or https address such as https://id.example.org/realms/home',
    read(given) {
      const url = URL.parse(given)
      if (url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(given)) return undefined
      return url.username === '' && url.password === '' ? given.replace(/\/$/, '') : undefined
    },
  })
}

function postgresAddress(): Reading<string | null> {
  return optional({
    allowed:
      'an address such as postgres://user:password@host:5432/database, or postgres:///database?host=/run/postgresql for a socket; with ?sslmode=disable, require, verify-ca or verify-full, and &sslrootcert=<path> of the authority, which verify-ca needs',
    read: (given) => (isPostgresAddress(given) ? given : undefined),
    holdsPassword: true,
  })
}

function smtpAddress(): Reading<string | null> {
  return optional({
    allowed:
      'an address such as smtp://user:password@mail.example.org:587, or smtps://… for TLS from the beginning; user and password percent-encoded',
    read(given) {
      const url = URL.parse(given)
      if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return undefined
      const isBare = /^\/?$/.test(url.pathname) && !/[?#]/.test(given)
      // One without the other is a password with an unencoded sign.
      const isWhole = (url.username === '') === (url.password === '')
      return isBare && isWhole && [url.username, url.password].every(isEncoded) ? given : undefined
    },
    holdsPassword: true,
  })
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function sender() {
  return optional({
    allowed: 'an address such as files@example.org, or a name with one: Holdfast <files@example.org>',
    read: (given) => parseSender(given) ?? undefined,
  })
}

function siteNamed(): Reading<string | null> {
  return optional({
    allowed: `a name of at most ${MAX_SITE_NAME} characters`,
    read: (given) => siteNameOrNull(given) ?? undefined,
  })
}

function accentColour(): Reading<Accent | null> {
  return optional({
    allowed: 'a colour such as #0f766e that can be read as text on a light page',
    read: (given) => accentOrNull(given) ?? undefined,
  })
}

function host(): Reading<string> {
  return {
    allowed: 'an IP address or a host name',
    read(given) {
      const name = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i
      // Digits and dots alone are a malformed address.
      const isName = name.test(given) && /[a-z]/i.test(given)
      return isIP(given) !== 0 || isName ? given : undefined
    },
  }
}

function networks(): Reading<readonly string[]> {
  return {
    allowed: 'IP addresses and CIDR ranges with commas between them, such as 127.0.0.1,10.0.0.0/8',
    read(given) {
      const list = given === '' ? [] : given.split(',').map((network) => network.trim())
      return list.every(isNetwork) ? list : undefined
    },
  }
}

function isNetwork(text: string): boolean {
  const [host = '', bits, ...rest] = text.split('/')
  const family = isIP(host)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}
