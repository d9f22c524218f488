import { isIP } from 'node:net'
import { MOST_INACTIVE_DAYS } from './domain/account.ts'
import { isPostgresAddress } from './domain/addresses.ts'
import { wholeNumber } from './domain/ids.ts'
import { parseSender } from './domain/mail-address.ts'
import { parseSize } from './domain/sizes.ts'

export interface Setting<T> {
  readonly variable: string
  /** As in the environment; for an empty text, the meaning of an unset variable. */
  readonly default: string
  readonly description: string
  /** Continues after "allowed". */
  readonly allowed: string
  /** `text`: trimmed. Undefined: not allowed. */
  readonly read: (text: string) => T | undefined
  readonly isSecret?: true
  readonly holdsPassword?: true
}

const SIGN_UPS = ['open', 'invitation', 'closed'] as const
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** Every variable, under the name in `Config`. */
export const settings = {
  host: {
    variable: 'HOLDFAST_HOST',
    default: '127.0.0.1',
    description: 'The address to listen at; 0.0.0.0 or :: for every network of the machine.',
    allowed: 'an IP address or a host name',
    read: readHost,
  },
  port: {
    variable: 'HOLDFAST_PORT',
    default: '3000',
    description: 'The port to listen at; 0 lets the system pick one.',
    ...whole(0, 65_535),
  },
  dataDir: {
    variable: 'HOLDFAST_DATA_DIR',
    default: './data',
    description: 'The folder for the database and the files. It is made when it is missing.',
    allowed: 'a path, from the folder where the program starts; ~ is not understood here',
    read: (text) => (text.startsWith('~') || text.includes('\0') ? undefined : text),
  } satisfies Setting<string>,
  groupRead: {
    variable: 'HOLDFAST_GROUP_READ',
    default: 'off',
    description:
      'Whether the group of the data folder may read what is in it, such as a group that makes backups. Nobody else ever may.',
    allowed: 'on or off',
    read: readSwitch,
  },
  publicUrl: {
    variable: 'HOLDFAST_PUBLIC_URL',
    default: '',
    description: 'The address that links begin with. Without it, the address the server listens at.',
    ...address(),
  },
  contentUrl: {
    variable: 'HOLDFAST_CONTENT_URL',
    default: '',
    description: 'The address that the bytes of files are served from. Without it, the public address.',
    ...address(),
  },
  databaseUrl: {
    variable: 'HOLDFAST_DATABASE_URL',
    default: '',
    description:
      'The PostgreSQL database that nodes share. Without it, a SQLite database in the data folder.',
    allowed:
      'an address such as postgres://user:password@host:5432/database, or postgres:///database?host=/run/postgresql for a socket; with ?sslmode=disable, require, verify-ca or verify-full, and &sslrootcert=<path> of the authority, which verify-ca needs',
    read: readDatabaseUrl,
    holdsPassword: true,
  } satisfies Setting<string | null>,
  databaseConnections: {
    variable: 'HOLDFAST_DATABASE_CONNECTIONS',
    default: '20',
    description: 'Connections that this node may keep to PostgreSQL.',
    ...whole(2, 1000),
  },
  databasePrepares: {
    variable: 'HOLDFAST_DATABASE_PREPARES',
    default: 'true',
    description:
      'Whether PostgreSQL prepares frequent statements once a connection. For PgBouncer before 1.21 in transaction mode, turn it off.',
    allowed: 'true or false',
    read: readBoolean,
  } satisfies Setting<boolean>,
  s3Endpoint: {
    variable: 'HOLDFAST_S3_ENDPOINT',
    default: '',
    description: 'The S3-compatible store for the bytes. Without it, they lie in the data folder.',
    ...address(),
  },
  s3Bucket: {
    variable: 'HOLDFAST_S3_BUCKET',
    default: '',
    description: 'The bucket. It is made when it is missing and the store allows that.',
    allowed: 'the name of a bucket: 3 to 63 of a-z, 0-9, dots and dashes',
    read: (text) => (text === '' || BUCKET.test(text) ? text : undefined),
  } satisfies Setting<string>,
  s3Region: {
    variable: 'HOLDFAST_S3_REGION',
    default: 'us-east-1',
    description: 'The region that requests to the store are signed for.',
    allowed: 'a name such as us-east-1',
    read: readRegion,
  } satisfies Setting<string>,
  s3AccessKeyId: {
    variable: 'HOLDFAST_S3_ACCESS_KEY_ID',
    default: '',
    description: 'Who asks the store.',
    allowed: 'the id of an access key',
    read: (text) => text,
  } satisfies Setting<string>,
  s3SecretAccessKey: {
    variable: 'HOLDFAST_S3_SECRET_ACCESS_KEY',
    default: '',
    description: 'The secret of that access key.',
    allowed: 'the secret of an access key',
    read: (text) => text,
    isSecret: true,
  } satisfies Setting<string>,
  s3PathStyle: {
    variable: 'HOLDFAST_S3_PATH_STYLE',
    default: 'false',
    description: 'Whether the bucket is named in the path (https://host/bucket) instead of the host name.',
    allowed: 'true or false',
    read: readBoolean,
  },
  s3Redirect: {
    variable: 'HOLDFAST_S3_REDIRECT',
    default: 'false',
    description:
      'Whether downloads of what anybody may open are sent on to the store, by addresses signed for half an hour.',
    allowed: 'true or false',
    read: readBoolean,
  },
  trustedProxies: {
    variable: 'HOLDFAST_TRUSTED_PROXIES',
    default: '',
    description: 'Proxies whose forwarded headers tell the address of the visitor.',
    allowed: 'IP addresses and CIDR ranges with commas between them, such as 127.0.0.1,10.0.0.0/8',
    read: readNetworks,
  },
  maxFileSize: {
    variable: 'HOLDFAST_MAX_FILE_SIZE',
    default: '10GB',
    description: 'The largest file.',
    ...size(1),
  },
  storageLimit: {
    variable: 'HOLDFAST_STORAGE_LIMIT',
    default: '10GB',
    description: 'What the files of one account may take together.',
    ...size(1),
  },
  rateLimit: {
    variable: 'HOLDFAST_RATE_LIMIT',
    default: '1000',
    description: 'Requests that one API key may make in an hour.',
    ...whole(1, 1_000_000_000),
  },
  accountRateFactor: {
    variable: 'HOLDFAST_ACCOUNT_RATE_FACTOR',
    default: '10',
    description:
      'How many times HOLDFAST_RATE_LIMIT all API keys of an account may use together in an hour; 0: no limit together.',
    ...whole(0, 1_000_000),
  },
  sessionRateLimit: {
    variable: 'HOLDFAST_SESSION_RATE_LIMIT',
    default: '20000',
    description: 'Requests that one account may make in an hour from browsers where it is signed in.',
    ...whole(1, 1_000_000_000),
  },
  signUp: {
    variable: 'HOLDFAST_SIGN_UP',
    default: 'invitation',
    description:
      'Who may make an account on the site: anybody, whoever has an invitation from an administrator, or nobody.',
    allowed: 'open, invitation or closed',
    read: (text) => SIGN_UPS.find((each) => each === text.toLowerCase()),
  } satisfies Setting<(typeof SIGN_UPS)[number]>,
  secret: {
    variable: 'HOLDFAST_SECRET',
    default: '',
    description: 'What the server signs and encrypts with. Without it, a secret that lies in the database.',
    allowed: '32 to 1024 characters',
    read: (text) => (text === '' || (text.length >= 32 && text.length <= 1024) ? text : undefined),
    isSecret: true,
  } satisfies Setting<string>,
  secretFile: {
    variable: 'HOLDFAST_SECRET_FILE',
    default: '',
    description: 'A file that holds that secret, instead.',
    allowed: 'a path',
    read: (text) => (text.includes('\0') ? undefined : text),
  } satisfies Setting<string>,
  backup: {
    variable: 'HOLDFAST_BACKUP',
    default: '',
    description:
      'A place for backups, which the server then makes by itself. Without it, only "holdfast backup" makes some.',
    allowed:
      'a path of a folder of its own, or the address of an S3-compatible service with a bucket, such as https://s3.example.org/backup',
    read: readPlace,
  } satisfies Setting<WrittenPlace | null>,
  backupHours: {
    variable: 'HOLDFAST_BACKUP_HOURS',
    default: '24',
    description: 'Hours from the beginning of one backup that the server makes to the next.',
    ...whole(1, 8760),
  },
  backupKeepDaily: {
    variable: 'HOLDFAST_BACKUP_KEEP_DAILY',
    default: '7',
    description: 'The newest backup of each of so many days is kept.',
    ...whole(1, 9999),
  },
  backupKeepWeekly: {
    variable: 'HOLDFAST_BACKUP_KEEP_WEEKLY',
    default: '4',
    description: 'The newest backup of each of so many weeks is kept too.',
    ...whole(0, 9999),
  },
  backupRate: {
    variable: 'HOLDFAST_BACKUP_RATE',
    default: '',
    description:
      'How much is copied to the backup that the server makes in a second at most. Without it, as much as goes.',
    allowed: size(1).allowed,
    read: (text) => (text === '' ? null : size(1).read(text)),
  } satisfies Setting<number | null>,
  drillDays: {
    variable: 'HOLDFAST_DRILL_DAYS',
    default: '7',
    description:
      'Days from one rehearsal of a restore, which the server does by itself, to the next; 0 for none.',
    ...whole(0, 365),
  },
  drillFolder: {
    variable: 'HOLDFAST_DRILL_FOLDER',
    default: '',
    description:
      'A folder with room for all of the backup, for such rehearsals. Without it, the one of the system for temporary files.',
    allowed: 'a path',
    read: (text) => (text.startsWith('~') || text.includes('\0') ? undefined : text),
  } satisfies Setting<string>,
  backupPassphraseFile: {
    variable: 'HOLDFAST_BACKUP_PASSPHRASE_FILE',
    default: '',
    description: 'A file with the passphrase that backups are encrypted with. Without it, they are not.',
    allowed: 'a path',
    read: (text) => (text.includes('\0') ? undefined : text),
  } satisfies Setting<string>,
  backupS3AccessKeyId: {
    variable: 'HOLDFAST_BACKUP_S3_ACCESS_KEY_ID',
    default: '',
    description: 'Who asks the store of a backup. Without it, the key of the store for the bytes.',
    allowed: 'the id of an access key',
    read: (text) => text,
  } satisfies Setting<string>,
  backupS3SecretAccessKey: {
    variable: 'HOLDFAST_BACKUP_S3_SECRET_ACCESS_KEY',
    default: '',
    description: 'The secret of that access key.',
    allowed: 'the secret of an access key',
    read: (text) => text,
    isSecret: true,
  } satisfies Setting<string>,
  backupS3Region: {
    variable: 'HOLDFAST_BACKUP_S3_REGION',
    default: 'us-east-1',
    description: 'The region that requests to the store of HOLDFAST_BACKUP are signed for.',
    allowed: 'a name such as us-east-1',
    read: readRegion,
  } satisfies Setting<string>,
  backupS3PathStyle: {
    variable: 'HOLDFAST_BACKUP_S3_PATH_STYLE',
    default: 'false',
    description: 'Whether the bucket of HOLDFAST_BACKUP is named in the path instead of the host name.',
    allowed: 'true or false',
    read: readBoolean,
  },
  mirror: {
    variable: 'HOLDFAST_MIRROR',
    default: '',
    description:
      'A second store, which gets a copy of every content and from which damaged ones are brought back. Without it, there is none.',
    allowed:
      'a path of a folder of its own, or the address of an S3-compatible service with a bucket, such as https://s3.example.org/mirror',
    read: readPlace,
  } satisfies Setting<WrittenPlace | null>,
  mirrorRate: {
    variable: 'HOLDFAST_MIRROR_RATE',
    default: '64MB',
    description: 'How much is copied to the mirror, or back, in a second at most, by one node at a time.',
    ...size(1),
  },
  mirrorScrubDays: {
    variable: 'HOLDFAST_MIRROR_SCRUB_DAYS',
    default: '',
    description:
      'Days within which all copies in the mirror are read again, at HOLDFAST_SCRUB_RATE, and made anew where they are damaged; 0 for never. Without it, 30 for a folder and never for S3.',
    allowed: 'a whole number from 0 to 3650',
    read: (text) => (text === '' ? null : whole(0, 3650).read(text)),
  } satisfies Setting<number | null>,
  mirrorS3AccessKeyId: {
    variable: 'HOLDFAST_MIRROR_S3_ACCESS_KEY_ID',
    default: '',
    description: 'Who asks the store of the mirror. Without it, the key of the store for the bytes.',
    allowed: 'the id of an access key',
    read: (text) => text,
  } satisfies Setting<string>,
  mirrorS3SecretAccessKey: {
    variable: 'HOLDFAST_MIRROR_S3_SECRET_ACCESS_KEY',
    default: '',
    description: 'The secret of that access key.',
    allowed: 'the secret of an access key',
    read: (text) => text,
    isSecret: true,
  } satisfies Setting<string>,
  mirrorS3Region: {
    variable: 'HOLDFAST_MIRROR_S3_REGION',
    default: 'us-east-1',
    description: 'The region that requests to the store of the mirror are signed for.',
    allowed: 'a name such as us-east-1',
    read: readRegion,
  } satisfies Setting<string>,
  mirrorS3PathStyle: {
    variable: 'HOLDFAST_MIRROR_S3_PATH_STYLE',
    default: 'false',
    description: 'Whether the bucket of the mirror is named in the path instead of the host name.',
    allowed: 'true or false',
    read: readBoolean,
  },
  oidcIssuer: {
    variable: 'HOLDFAST_OIDC_ISSUER',
    default: '',
    description: 'An OpenID Connect server whose people may sign in here, by its issuer.',
    allowed: 'an http or https address such as https://id.example.org/realms/home',
    read: readIssuer,
  } satisfies Setting<string | null>,
  oidcClientId: {
    variable: 'HOLDFAST_OIDC_CLIENT_ID',
    default: '',
    description: 'What that server calls this one.',
    allowed: 'the id of a client of that server',
    read: (text) => text,
  } satisfies Setting<string>,
  oidcClientSecret: {
    variable: 'HOLDFAST_OIDC_CLIENT_SECRET',
    default: '',
    description: 'The secret of that client.',
    allowed: 'the secret of a client of that server',
    read: (text) => text,
    isSecret: true,
  } satisfies Setting<string>,
  oidcName: {
    variable: 'HOLDFAST_OIDC_NAME',
    default: 'OpenID Connect',
    description: 'What people call that server: it stands on the button that leads there.',
    allowed: 'a name of up to 40 characters',
    read: (text) => (text.length <= 40 ? text : undefined),
  } satisfies Setting<string>,
  smtpUrl: {
    variable: 'HOLDFAST_SMTP_URL',
    default: '',
    description: 'The server that mails are handed to. Without it none are sent, and everything else works.',
    allowed:
      'an address such as smtp://user:password@mail.example.org:587, or smtps://… for TLS from the beginning; user and password percent-encoded',
    read: readSmtpUrl,
    holdsPassword: true,
  } satisfies Setting<string | null>,
  mailFrom: {
    variable: 'HOLDFAST_MAIL_FROM',
    default: '',
    description: 'Who mails are from.',
    allowed: 'an address such as files@example.org, or a name with one: Holdfast <files@example.org>',
    read: (text) => (text === '' || parseSender(text) !== null ? text : undefined),
  } satisfies Setting<string>,
  uploadExpires: {
    variable: 'HOLDFAST_UPLOAD_EXPIRES',
    default: '24',
    description:
      'Hours without a byte after which an unfinished resumable upload is given up; one of which no byte has come waits for one hour.',
    ...whole(1, 8760),
  },
  guestUploads: {
    variable: 'HOLDFAST_GUEST_UPLOADS',
    default: 'true',
    description: 'Whether anybody may upload without an account.',
    allowed: 'true or false',
    read: readBoolean,
  },
  guestRateLimit: {
    variable: 'HOLDFAST_GUEST_RATE_LIMIT',
    default: '1000',
    description: 'Uploads that guests at one address may make in an hour.',
    ...whole(1, 1_000_000_000),
  },
  guestHourlySize: {
    variable: 'HOLDFAST_GUEST_HOURLY_SIZE',
    default: '50GB',
    description: 'What guests at one address may upload in an hour.',
    ...size(1),
  },
  guestStorage: {
    variable: 'HOLDFAST_GUEST_STORAGE',
    default: '500GB',
    description: 'What the files of all guests may take together.',
    ...size(1),
  },
  minFreeSpace: {
    variable: 'HOLDFAST_MIN_FREE_SPACE',
    default: '2GB',
    description:
      'Uploads stop when the disk under the data folder has less room than this, if files or SQLite are on it; those of guests stop at twice as much where files are.',
    ...size(0),
  },
  linkAddresses: {
    variable: 'HOLDFAST_LINK_ADDRESSES',
    default: 'false',
    description:
      'Whether the log of a link, which its owner reads, says from which addresses it was used. Kept for 90 days.',
    allowed: 'true or false',
    read: readBoolean,
  },
  webhookPrivateNetworks: {
    variable: 'HOLDFAST_WEBHOOK_PRIVATE_NETWORKS',
    default: 'false',
    description:
      'Whether webhooks, which everybody with an account may add, are also sent into private networks and to this machine.',
    allowed: 'true or false',
    read: readBoolean,
  },
  inactiveDays: {
    variable: 'HOLDFAST_INACTIVE_DAYS',
    default: '45',
    description: 'Days without a view or a download after which a file is deleted; 0 for never.',
    ...whole(0, MOST_INACTIVE_DAYS),
  },
  accountInactiveDays: {
    variable: 'HOLDFAST_ACCOUNT_INACTIVE_DAYS',
    default: '',
    description:
      'The same days for files of accounts, unless an administrator gives an account days of its own; 0 for never. Without it, those of HOLDFAST_INACTIVE_DAYS.',
    allowed: whole(0, MOST_INACTIVE_DAYS).allowed,
    read: (text) => (text === '' ? null : whole(0, MOST_INACTIVE_DAYS).read(text)),
  } satisfies Setting<number | null>,
  binDays: {
    variable: 'HOLDFAST_BIN_DAYS',
    default: '7',
    description: 'Days after which what is in the bin is deleted for good.',
    ...whole(1, 36_500),
  },
  maxFolderDepth: {
    variable: 'HOLDFAST_MAX_FOLDER_DEPTH',
    default: '256',
    description: 'How many levels of folders may be nested.',
    ...whole(1, 1000),
  },
  scrubDays: {
    variable: 'HOLDFAST_SCRUB_DAYS',
    default: '',
    description:
      'Days within which all stored bytes are read again and compared with their hashes; 0 for never. Without it, 30 for a data folder and never for S3.',
    allowed: 'a whole number from 0 to 3650',
    read: (text) => (text === '' ? null : whole(0, 3650).read(text)),
  } satisfies Setting<number | null>,
  scrubRate: {
    variable: 'HOLDFAST_SCRUB_RATE',
    default: '16MB',
    description: 'How much of them is read in a second at most, on one node at a time.',
    ...size(1),
  },
  verifyReads: {
    variable: 'HOLDFAST_VERIFY_READS',
    default: 'false',
    description:
      'Whether whole downloads are hashed on their way, and broken off before the last byte when their bytes are not those that were stored.',
    allowed: 'true or false',
    read: readBoolean,
  },
  shutdownGrace: {
    variable: 'HOLDFAST_SHUTDOWN_GRACE',
    default: '30',
    description:
      'Seconds that running uploads may take to end when the server is told to stop. A service manager has to wait for longer than that.',
    ...whole(0, 3600),
  },
  thumbnails: {
    variable: 'HOLDFAST_THUMBNAILS',
    default: 'true',
    description: 'Whether pictures get thumbnails and, where ffmpeg is installed, videos get posters.',
    allowed: 'true or false',
    read: readBoolean,
  },
  metrics: {
    variable: 'HOLDFAST_METRICS',
    default: 'off',
    description: 'Whether /metrics tells Prometheus how this node does.',
    allowed: 'on or off',
    read: readSwitch,
  } satisfies Setting<boolean>,
  metricsToken: {
    variable: 'HOLDFAST_METRICS_TOKEN',
    default: '',
    description:
      'What Prometheus has to send as its bearer token. Without it, whoever reaches /metrics reads it.',
    allowed: '16 to 255 letters, digits and - . _ ~ + / =',
    read: (text) => (text === '' || /^[A-Za-z0-9._~+/=-]{16,255}$/.test(text) ? text : undefined),
    isSecret: true,
  } satisfies Setting<string>,
  logDir: {
    variable: 'HOLDFAST_LOG_DIR',
    default: '',
    description:
      'The folder for the access log and for the log of refused sign-ins and keys, which fail2ban reads. Without it, neither is written.',
    allowed: 'the path of a folder of this node alone',
    read: (text) => text,
  } satisfies Setting<string>,
  accessLogDays: {
    variable: 'HOLDFAST_ACCESS_LOG_DAYS',
    default: '14',
    description: 'Days after which a day of the access log is deleted; 0 writes no access log.',
    ...whole(0, 3650),
  },
  accessLogAnonymous: {
    variable: 'HOLDFAST_ACCESS_LOG_ANONYMOUS',
    default: 'false',
    description:
      'Whether the access log has networks (/24, /48) in place of addresses, and neither accounts nor agents.',
    allowed: 'true or false',
    read: readBoolean,
  },
  logLevel: {
    variable: 'HOLDFAST_LOG_LEVEL',
    default: 'info',
    description: 'The least important lines that the log still shows.',
    allowed: 'debug, info, warn, error or silent',
    read: (text) => LOG_LEVELS.find((level) => level === text.toLowerCase()),
  } satisfies Setting<(typeof LOG_LEVELS)[number]>,
}

/** For client commands. A server only tolerates them. */
export const clientVariables = {
  server: 'HOLDFAST_SERVER',
  apiKey: 'HOLDFAST_API_KEY',
  password: 'HOLDFAST_PASSWORD',
} as const

type Reading<T> = Pick<Setting<T>, 'allowed' | 'read'>

function whole(least: number, most: number): Reading<number> {
  return {
    allowed: `a whole number from ${least} to ${most}`,
    read: (text) => {
      const value = wholeNumber(text) ?? -1
      return value >= least && value <= most ? value : undefined
    },
  }
}

function size(least: 0 | 1): Reading<number> {
  return {
    allowed: `a size such as 500MB or 10GB (units of 1024; B, KB, MB, GB, TB)${least === 1 ? ', not 0' : ''}`,
    read: (text) => {
      const bytes = parseSize(text)
      return bytes === null || bytes < least ? undefined : bytes
    },
  }
}

/** Paths start at the root, so addresses have none. No trailing slash. */
function address(): Reading<string | null> {
  return {
    allowed: 'an http or https address without a path, such as https://files.example.org',
    read: (text) => {
      if (text === '') return null
      const url = URL.parse(text)
      if (url === null || !/^https?:$/.test(url.protocol)) return undefined
      const bare = url.username === '' && url.password === '' && url.pathname === '/'
      return bare && !/[?#]/.test(text) ? url.origin : undefined
    },
  }
}

export type WrittenPlace =
  | { readonly folder: string }
  | { readonly endpoint: string; readonly bucket: string }

export function readBucketAddress(text: string): { endpoint: string; bucket: string } | undefined {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '' || /[?#]/.test(text)) return undefined
  const [bucket = '', ...rest] = url.pathname.slice(1).replace(/\/$/, '').split('/')
  const endpoint = settings.s3Endpoint.read(url.origin)
  return endpoint && rest.length === 0 && BUCKET.test(bucket) ? { endpoint, bucket } : undefined
}

function readPlace(text: string): WrittenPlace | null | undefined {
  if (text === '') return null
  if (/^https?:/.test(text)) return readBucketAddress(text)
  return text.startsWith('~') || text.includes('\0') ? undefined : { folder: text }
}

function readRegion(text: string): string | undefined {
  return /^[A-Za-z0-9-]{1,64}$/.test(text) ? text : undefined
}

function readIssuer(text: string): string | null | undefined {
  if (text === '') return null
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(text)) return undefined
  return url.username === '' && url.password === '' ? text.replace(/\/$/, '') : undefined
}

function readDatabaseUrl(text: string): string | null | undefined {
  if (text === '') return null
  return isPostgresAddress(text) ? text : undefined
}

function readSmtpUrl(text: string): string | null | undefined {
  if (text === '') return null
  const url = URL.parse(text)
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return undefined
  const isBare = /^\/?$/.test(url.pathname) && !/[?#]/.test(text)
  // One without the other is a password with an unencoded sign.
  const isWhole = (url.username === '') === (url.password === '')
  return isBare && isWhole && [url.username, url.password].every(isEncoded) ? text : undefined
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function readSwitch(text: string): boolean | undefined {
  return /^(on|off)$/i.test(text) ? text.toLowerCase() === 'on' : undefined
}

function readBoolean(text: string): boolean | undefined {
  if (/^(true|1)$/i.test(text)) return true
  return /^(false|0)$/i.test(text) ? false : undefined
}

function readHost(text: string): string | undefined {
  const name = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i
  // Digits and dots alone are a malformed address.
  const isName = name.test(text) && /[a-z]/i.test(text)
  return isIP(text) !== 0 || isName ? text : undefined
}

function readNetworks(text: string): readonly string[] | undefined {
  const networks = text === '' ? [] : text.split(',').map((network) => network.trim())
  return networks.every(isNetwork) ? networks : undefined
}

function isNetwork(text: string): boolean {
  const [host = '', bits, ...rest] = text.split('/')
  const family = isIP(host)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}
