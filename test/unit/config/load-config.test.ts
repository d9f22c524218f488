import { describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { ConfigError, type Environment } from '../../../src/config/environment.ts'
import { type Config, loadConfig, settingsInForce } from '../../../src/config.ts'
import { parseAccent } from '../../../src/domain/accent.ts'
import type { MailAddress } from '../../../src/domain/mail-address.ts'
import { type Setting, settings } from '../../../src/settings.ts'

const GB = 1024 ** 3

describe('settings', () => {
  test('an empty environment gives the documented defaults', () => {
    expect(loadConfig({})).toEqual({
      host: '127.0.0.1',
      port: 3000,
      dataDir: resolve('data'),
      groupRead: false,
      siteName: null,
      accent: null,
      publicUrl: null,
      contentUrl: null,
      databaseUrl: null,
      databaseConnections: 20,
      databasePrepares: true,
      s3: null,
      s3Redirect: false,
      trustedProxies: [],
      maxFileSize: 10 * GB,
      storageLimit: 10 * GB,
      rateLimit: 1000,
      accountRateFactor: 10,
      sessionRateLimit: 20_000,
      signUp: 'invitation',
      secret: null,
      backup: { passphraseFile: null, s3Key: null, own: null },
      mirror: null,
      oidc: null,
      mail: null,
      uploadExpires: 24,
      guestUploads: true,
      guestRateLimit: 1000,
      guestHourlySize: 50 * GB,
      guestStorage: 500 * GB,
      minFreeSpace: 2 * GB,
      linkAddresses: false,
      webhookPrivateNetworks: false,
      inactiveDays: 45,
      accountInactiveDays: null,
      binDays: 7,
      maxFolderDepth: 256,
      scrubDays: null,
      scrubRate: 16 * 1024 ** 2,
      verifyReads: false,
      shutdownGrace: 30,
      thumbnails: true,
      metrics: null,
      logs: null,
      logLevel: 'info',
      secretFiles: [],
    })
  })

  test('every variable changes its setting', () => {
    const config = loadConfig({
      HOLDFAST_HOST: '::',
      HOLDFAST_PORT: '0',
      HOLDFAST_DATA_DIR: '/srv/holdfast',
      HOLDFAST_SITE_NAME: 'Files of Example Ltd',
      HOLDFAST_ACCENT: '#1D4ED8',
      HOLDFAST_PUBLIC_URL: 'https://files.example.org/',
      HOLDFAST_CONTENT_URL: 'https://content.example.org:8443',
      HOLDFAST_DATABASE_URL: 'postgres://me:secret@db.example.org/holdfast',
      HOLDFAST_DATABASE_CONNECTIONS: '4',
      HOLDFAST_DATABASE_PREPARES: 'false',
      HOLDFAST_BACKUP: 'https://s3.example.net/nightly',
      HOLDFAST_BACKUP_HOURS: '12',
      HOLDFAST_BACKUP_KEEP_DAILY: '3',
      HOLDFAST_BACKUP_KEEP_WEEKLY: '0',
      HOLDFAST_BACKUP_RATE: '50MB',
      HOLDFAST_BACKUP_S3_REGION: 'eu-west-2',
      HOLDFAST_BACKUP_S3_PATH_STYLE: 'true',
      HOLDFAST_DRILL_DAYS: '30',
      HOLDFAST_DRILL_FOLDER: '/srv/drill',
      HOLDFAST_BACKUP_PASSPHRASE_FILE: '/etc/holdfast/passphrase',
      HOLDFAST_BACKUP_S3_ACCESS_KEY_ID: 'backups',
      HOLDFAST_BACKUP_S3_SECRET_ACCESS_KEY: 'other',
      HOLDFAST_MIRROR: 'https://s3.example.com/second',
      HOLDFAST_MIRROR_RATE: '2MB',
      HOLDFAST_MIRROR_SCRUB_DAYS: '90',
      HOLDFAST_MIRROR_S3_ACCESS_KEY_ID: 'mirror',
      HOLDFAST_MIRROR_S3_SECRET_ACCESS_KEY: 'third',
      HOLDFAST_MIRROR_S3_REGION: 'eu-west-1',
      HOLDFAST_MIRROR_S3_PATH_STYLE: 'true',
      HOLDFAST_S3_ENDPOINT: 'https://s3.example.org/',
      HOLDFAST_S3_BUCKET: 'my-bucket',
      HOLDFAST_S3_REGION: 'eu-north-1',
      HOLDFAST_S3_ACCESS_KEY_ID: 'id',
      HOLDFAST_S3_SECRET_ACCESS_KEY: 'sec/ret=',
      HOLDFAST_S3_PATH_STYLE: 'true',
      HOLDFAST_S3_REDIRECT: '1',
      HOLDFAST_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,fd00::/8',
      HOLDFAST_MAX_FILE_SIZE: '500MB',
      HOLDFAST_STORAGE_LIMIT: '1.5 GB',
      HOLDFAST_RATE_LIMIT: '5',
      HOLDFAST_SESSION_RATE_LIMIT: '50',
      HOLDFAST_SIGN_UP: 'Open',
      HOLDFAST_OIDC_ISSUER: 'https://id.example.org/realms/home/',
      HOLDFAST_OIDC_CLIENT_ID: 'files',
      HOLDFAST_OIDC_CLIENT_SECRET: 's3cret',
      HOLDFAST_OIDC_NAME: 'Home',
      HOLDFAST_SMTP_URL: 'smtp://files%40example.org:s3%3Acret@mail.example.org',
      HOLDFAST_MAIL_FROM: 'Holdfast <files@example.org>',
      HOLDFAST_GUEST_UPLOADS: 'false',
      HOLDFAST_GUEST_RATE_LIMIT: '6',
      HOLDFAST_GUEST_HOURLY_SIZE: '7GB',
      HOLDFAST_GUEST_STORAGE: '8gb',
      HOLDFAST_MIN_FREE_SPACE: '0',
      HOLDFAST_LINK_ADDRESSES: 'true',
      HOLDFAST_WEBHOOK_PRIVATE_NETWORKS: 'true',
      HOLDFAST_INACTIVE_DAYS: '9',
      HOLDFAST_ACCOUNT_INACTIVE_DAYS: '0',
      HOLDFAST_BIN_DAYS: '3',
      HOLDFAST_MAX_FOLDER_DEPTH: '10',
      HOLDFAST_SCRUB_DAYS: '0',
      HOLDFAST_SCRUB_RATE: '1MB',
      HOLDFAST_VERIFY_READS: 'true',
      HOLDFAST_SHUTDOWN_GRACE: '90',
      HOLDFAST_THUMBNAILS: 'false',
      HOLDFAST_METRICS: 'on',
      HOLDFAST_METRICS_TOKEN: 'a-token-of-some-length',
      HOLDFAST_LOG_LEVEL: 'DEBUG',
    })
    expect(config).toEqual({
      host: '::',
      port: 0,
      dataDir: '/srv/holdfast',
      groupRead: false,
      siteName: 'Files of Example Ltd',
      accent: parseAccent('#1d4ed8'),
      publicUrl: 'https://files.example.org',
      contentUrl: 'https://content.example.org:8443',
      databaseUrl: 'postgres://me:secret@db.example.org/holdfast',
      databaseConnections: 4,
      databasePrepares: false,
      s3: {
        endpoint: 'https://s3.example.org',
        bucket: 'my-bucket',
        region: 'eu-north-1',
        accessKeyId: 'id',
        secretAccessKey: 'sec/ret=',
        pathStyle: true,
      },
      s3Redirect: true,
      trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
      maxFileSize: 500 * 1024 ** 2,
      storageLimit: 1.5 * GB,
      rateLimit: 5,
      accountRateFactor: 10,
      sessionRateLimit: 50,
      signUp: 'open',
      secret: null,
      backup: {
        passphraseFile: '/etc/holdfast/passphrase',
        s3Key: { accessKeyId: 'backups', secretAccessKey: 'other' },
        own: {
          place: {
            kind: 's3',
            s3: {
              endpoint: 'https://s3.example.net',
              bucket: 'nightly',
              region: 'eu-west-2',
              accessKeyId: 'backups',
              secretAccessKey: 'other',
              pathStyle: true,
            },
          },
          hours: 12,
          keepDaily: 3,
          keepWeekly: 0,
          rate: 50 * 1024 * 1024,
          drillDays: 30,
          drillFolder: '/srv/drill',
        },
      },
      mirror: {
        place: {
          kind: 's3',
          s3: {
            endpoint: 'https://s3.example.com',
            bucket: 'second',
            region: 'eu-west-1',
            accessKeyId: 'mirror',
            secretAccessKey: 'third',
            pathStyle: true,
          },
        },
        rate: 2 * 1024 ** 2,
        scrubDays: 90,
      },
      oidc: {
        issuer: 'https://id.example.org/realms/home',
        clientId: 'files',
        clientSecret: 's3cret',
        name: 'Home',
      },
      mail: {
        host: 'mail.example.org',
        port: 587,
        secure: false,
        login: { user: 'files@example.org', password: 's3:cret' },
        from: { name: 'Holdfast', address: 'files@example.org' as MailAddress },
      },
      uploadExpires: 24,
      guestUploads: false,
      guestRateLimit: 6,
      guestHourlySize: 7 * GB,
      guestStorage: 8 * GB,
      minFreeSpace: 0,
      linkAddresses: true,
      webhookPrivateNetworks: true,
      inactiveDays: 9,
      accountInactiveDays: 0,
      binDays: 3,
      maxFolderDepth: 10,
      scrubDays: 0,
      scrubRate: 1024 ** 2,
      verifyReads: true,
      shutdownGrace: 90,
      thumbnails: false,
      metrics: { token: 'a-token-of-some-length' },
      logs: null,
      logLevel: 'debug',
      secretFiles: [{ variable: 'HOLDFAST_BACKUP_PASSPHRASE_FILE', path: '/etc/holdfast/passphrase' }],
    } satisfies Config)
  })

  test('an empty variable counts as left out, and variables of other programs are none of ours', () => {
    expect(loadConfig({ HOLDFAST_PORT: ' ', HOLDFAST_PUBLIC_URL: '', PORT: 'x', HOLDFASTER: 'y' })).toEqual(
      loadConfig({}),
    )
  })
})

describe('a value that is not allowed', () => {
  const wrong: Record<string, readonly string[]> = {
    HOLDFAST_HOST: ['300.1.1.1', '1.2.3', 'a b', 'http://localhost', '-a', '[::1]'],
    HOLDFAST_PORT: ['-1', '65536', '80.5', '0x50', 'http', '1e3', '+1'],
    HOLDFAST_DATA_DIR: ['~/files', '~'],
    HOLDFAST_SITE_NAME: ['x'.repeat(41)],
    HOLDFAST_ACCENT: ['teal', '0f766e', '#0f766', '#ffcc00'],
    HOLDFAST_PUBLIC_URL: [
      'files.example.org',
      'ftp://files.example.org',
      'https://example.org/files',
      'https://example.org?a',
      'https://example.org#a',
      'https://me:secret@example.org',
    ],
    HOLDFAST_CONTENT_URL: ['content.example.org', 'javascript:alert(1)'],
    HOLDFAST_DATABASE_URL: ['sqlite:/tmp/x.db', 'postgres://localhost', 'mysql://localhost/holdfast'],
    HOLDFAST_DATABASE_CONNECTIONS: ['1', 'many', '1001'],
    HOLDFAST_S3_ENDPOINT: ['s3.example.org', 'https://s3.example.org/bucket'],
    HOLDFAST_S3_BUCKET: ['ab', 'My-Bucket', '-bucket', 'a/b'],
    HOLDFAST_S3_REGION: ['eu north', 'a/b'],
    HOLDFAST_S3_PATH_STYLE: ['maybe'],
    HOLDFAST_S3_REDIRECT: ['maybe'],
    HOLDFAST_TRUSTED_PROXIES: [
      'proxy.example.org',
      '10.0.0.0/33',
      '::/129',
      '10.0.0.0/8/8',
      '10.0.0.1,',
      '10.0.0.0/',
    ],
    HOLDFAST_MAX_FILE_SIZE: ['0', '10 apples', '-1GB', '10GiBB', '1.5', ''.padEnd(30, '9')],
    HOLDFAST_STORAGE_LIMIT: ['0', '0GB', 'unlimited'],
    HOLDFAST_RATE_LIMIT: ['0', '1.5', '2000000000'],
    HOLDFAST_GUEST_UPLOADS: ['maybe', 'constructor', '2'],
    HOLDFAST_GUEST_RATE_LIMIT: ['0', 'many'],
    HOLDFAST_GUEST_HOURLY_SIZE: ['0', 'x'],
    HOLDFAST_GUEST_STORAGE: ['0', 'x'],
    HOLDFAST_MIN_FREE_SPACE: ['-1', 'x'],
    HOLDFAST_INACTIVE_DAYS: ['-1', '36501'],
    HOLDFAST_ACCOUNT_INACTIVE_DAYS: ['-1', '36501', 'never'],
    HOLDFAST_MAX_FOLDER_DEPTH: ['0', '1001'],
    HOLDFAST_SCRUB_DAYS: ['-1', '3651', 'never'],
    HOLDFAST_SCRUB_RATE: ['0', 'fast'],
    HOLDFAST_SHUTDOWN_GRACE: ['-1', '3601'],
    HOLDFAST_BACKUP: ['~/backup', 'https://s3.example.org'],
    HOLDFAST_BACKUP_HOURS: ['0', 'daily'],
    HOLDFAST_BACKUP_KEEP_DAILY: ['0'],
    HOLDFAST_DRILL_DAYS: ['366'],
    HOLDFAST_DRILL_FOLDER: ['~/drill'],
    HOLDFAST_MIRROR: [
      '~/mirror',
      'https://s3.example.org',
      'https://s3.example.org/a/b',
      'https://s3.example.org/My-Bucket',
      'https://me:secret@s3.example.org/bucket',
      'https://s3.example.org/bucket?a',
    ],
    HOLDFAST_SMTP_URL: [
      'mail.example.org',
      'http://mail.example.org',
      'smtp://',
      'smtp://me@a.b',
      'smtp://a.b/c',
    ],
    HOLDFAST_MAIL_FROM: ['Holdfast', 'a b@c.d', 'Hold"fast <a@b.c>', 'a@b.c, d@e.f'],
    HOLDFAST_METRICS: ['maybe', 'true'],
    HOLDFAST_LOG_LEVEL: ['verbose', 'trace'],
  }
  for (const [variable, values] of Object.entries(wrong)) {
    test.each([...values])(
      `${variable}=%s is refused with its name, its value and what is allowed`,
      (value) => {
        // What contradicts it, such as a setting that it needs, is told as well.
        const [problem, ...others] = problemsOf({ [variable]: value }).filter(
          (each) => each.variable === variable || each.reason.startsWith('allowed is '),
        )
        expect(others).toEqual([])
        expect(problem?.variable).toBe(variable)
        expect(problem?.value).toBe(value.replace('me:secret', 'me:…'))
        expect(problem?.reason).toStartWith('allowed is ')
      },
    )
  }

  test('contradictions are listed all at once, and beside values that are not allowed', () => {
    const problems = problemsOf({
      HOLDFAST_PORT: 'x',
      HOLDFAST_S3_ENDPOINT: 'https://192.0.2.7',
      HOLDFAST_MAX_FILE_SIZE: '500GB',
      HOLDFAST_STORAGE_LIMIT: '1TB',
      HOLDFAST_OIDC_NAME: 'Home',
      HOLDFAST_SMTP_URL: 'smtp://mail.example.org',
      HOLDFAST_BACKUP_S3_ACCESS_KEY_ID: 'x',
      HOLDFAST_BACKUP_HOURS: '3',
      HOLDFAST_MIRROR_RATE: '5MB',
      HOLDFAST_METRICS_TOKEN: 'a-token-of-some-length',
    })
    expect(problems.map(({ variable }) => variable).sort()).toEqual([
      'HOLDFAST_BACKUP_HOURS',
      'HOLDFAST_BACKUP_S3_SECRET_ACCESS_KEY',
      'HOLDFAST_MAIL_FROM',
      'HOLDFAST_MAX_FILE_SIZE',
      'HOLDFAST_METRICS_TOKEN',
      'HOLDFAST_MIRROR_RATE',
      'HOLDFAST_OIDC_NAME',
      'HOLDFAST_PORT',
      'HOLDFAST_PUBLIC_URL',
      'HOLDFAST_S3_ACCESS_KEY_ID',
      'HOLDFAST_S3_BUCKET',
      'HOLDFAST_S3_PATH_STYLE',
      'HOLDFAST_S3_SECRET_ACCESS_KEY',
    ])
  })

  test('a value that is not allowed is not told as a contradiction of others as well', () => {
    const variables = { HOLDFAST_PUBLIC_URL: 'https://a.b', HOLDFAST_CONTENT_URL: 'ftp://c.d' }
    expect(
      problemsOf({ ...variables, HOLDFAST_OIDC_NAME: 'x'.repeat(41) }).map(({ variable }) => variable),
    ).toEqual(['HOLDFAST_CONTENT_URL', 'HOLDFAST_OIDC_NAME'])
  })

  test('every wrong variable is listed, not only the first', () => {
    const problems = problemsOf({ HOLDFAST_PORT: 'x', HOLDFAST_RATE_LIMIT: 'y', HOLDFAST_POTR: '1' })
    expect(problems.map(({ variable }) => variable).sort()).toEqual([
      'HOLDFAST_PORT',
      'HOLDFAST_POTR',
      'HOLDFAST_RATE_LIMIT',
    ])
  })

  test.each([
    ['HOLDFAST_DATABASE_URL', 'postgres://me:hunter2@db', 'postgres://me:'],
    [
      'HOLDFAST_DATABASE_URL',
      'mysql://db/holdfast?user=me&password=hunter2',
      'mysql://db/holdfast?user=me&password=',
    ],
    ['HOLDFAST_SMTP_URL', 'smtp://me@example.org:hunter2@b:hunter2@a.b/c', 'smtp://me@example.org:'],
  ])('the password in %s is not repeated', (variable, value, kept) => {
    const { message } = errorOf({ [variable]: value })
    expect(message).toContain(kept)
    expect(message).not.toContain('hunter2')
  })
})

describe('a store', () => {
  const store = {
    HOLDFAST_S3_ENDPOINT: 'https://s3.example.org',
    HOLDFAST_S3_BUCKET: 'bucket',
    HOLDFAST_S3_ACCESS_KEY_ID: 'id',
    HOLDFAST_S3_SECRET_ACCESS_KEY: 'hunter2',
  }

  test.each(['HOLDFAST_S3_BUCKET', 'HOLDFAST_S3_ACCESS_KEY_ID', 'HOLDFAST_S3_SECRET_ACCESS_KEY'])(
    'without %s is refused',
    (variable) => {
      const problems = problemsOf({ ...store, [variable]: '' })
      expect(problems.map((problem) => problem.variable)).toEqual([variable])
    },
  )

  test.each(['HOLDFAST_S3_BUCKET', 'HOLDFAST_S3_REDIRECT'])(
    'without an endpoint makes %s meaningless',
    (variable) => {
      const [problem] = problemsOf({ [variable]: variable === 'HOLDFAST_S3_REDIRECT' ? 'true' : 'bucket' })
      expect(problem?.variable).toBe(variable)
      expect(problem?.reason).toContain('HOLDFAST_S3_ENDPOINT')
    },
  )
})

describe('a mirror', () => {
  const bucket = {
    HOLDFAST_MIRROR: 'https://s3.example.org/mirror',
    HOLDFAST_MIRROR_S3_ACCESS_KEY_ID: 'id',
    HOLDFAST_MIRROR_S3_SECRET_ACCESS_KEY: 'hunter2',
  }
  const problematic = (environment: Record<string, string>) =>
    problemsOf(environment).map(({ variable }) => variable)

  test('in a folder is an absolute path, and in a bucket has the key of the store unless it has its own', () => {
    const folder = loadConfig({ HOLDFAST_MIRROR: './mirror' }).mirror?.place
    expect(folder).toEqual({ kind: 'folder', path: `${process.cwd()}/mirror` })
    const place = loadConfig({
      HOLDFAST_MIRROR: bucket.HOLDFAST_MIRROR,
      HOLDFAST_S3_ACCESS_KEY_ID: 'own',
      HOLDFAST_S3_SECRET_ACCESS_KEY: 'secret',
    }).mirror?.place
    expect(place).toMatchObject({ kind: 's3', s3: { accessKeyId: 'own', secretAccessKey: 'secret' } })
  })

  test('is refused without a key, with half of one, and at an address that has no names for buckets', () => {
    const { HOLDFAST_MIRROR } = bucket
    expect(problematic({ HOLDFAST_MIRROR })).toEqual([
      'HOLDFAST_S3_ACCESS_KEY_ID',
      'HOLDFAST_S3_SECRET_ACCESS_KEY',
    ])
    const key = { ...bucket, HOLDFAST_MIRROR_S3_SECRET_ACCESS_KEY: '' }
    expect(problematic(key)).toEqual(['HOLDFAST_MIRROR_S3_SECRET_ACCESS_KEY'])
    const secret = { ...bucket, HOLDFAST_MIRROR_S3_ACCESS_KEY_ID: '' }
    expect(problematic(secret)).toEqual(['HOLDFAST_MIRROR_S3_SECRET_ACCESS_KEY'])
    const address = { ...bucket, HOLDFAST_MIRROR: 'http://127.0.0.1:9000/mirror' }
    expect(problematic(address)).toEqual(['HOLDFAST_MIRROR_S3_PATH_STYLE'])
  })

  test('is refused in the data folder, and in the bucket that has the bytes already', () => {
    const inside = { HOLDFAST_DATA_DIR: '/srv/holdfast', HOLDFAST_MIRROR: '/srv/holdfast/mirror' }
    expect(problematic(inside)).toEqual(['HOLDFAST_MIRROR'])
    expect(loadConfig({ ...inside, HOLDFAST_MIRROR: '/srv/holdfast-mirror' }).mirror).not.toBeNull()
    const same = {
      ...bucket,
      HOLDFAST_S3_ENDPOINT: 'https://s3.example.org',
      HOLDFAST_S3_BUCKET: 'mirror',
      HOLDFAST_S3_ACCESS_KEY_ID: 'id',
      HOLDFAST_S3_SECRET_ACCESS_KEY: 'hunter2',
    }
    expect(problematic(same)).toEqual(['HOLDFAST_MIRROR'])
  })

  test('makes its other settings meaningless where there is none, or no bucket', () => {
    const { HOLDFAST_MIRROR, ...rest } = bucket
    expect(problematic({ ...rest, HOLDFAST_MIRROR_RATE: '1MB' })).toHaveLength(3)
    expect(problematic({ ...rest, HOLDFAST_MIRROR: '/srv/mirror' })).toHaveLength(2)
  })
})

describe('backups of the server', () => {
  const backup = { HOLDFAST_DATA_DIR: '/srv/holdfast', HOLDFAST_BACKUP: '/mnt/backup' }
  const problematic = (environment: Record<string, string>) =>
    problemsOf(environment).map(({ variable }) => variable)

  test('lie in a folder of their own, not in that of something else nor around it', () => {
    expect(loadConfig(backup).backup.own).toEqual({
      place: { kind: 'folder', path: '/mnt/backup' },
      hours: 24,
      keepDaily: 7,
      keepWeekly: 4,
      rate: null,
      drillDays: 7,
      drillFolder: null,
    })
    for (const folder of ['/srv/holdfast', '/srv/holdfast/backup', '/srv/']) {
      expect(problematic({ ...backup, HOLDFAST_BACKUP: folder })).toEqual(['HOLDFAST_BACKUP'])
    }
    expect(problematic({ ...backup, HOLDFAST_MIRROR: '/mnt/backup/mirror' })).toEqual(['HOLDFAST_BACKUP'])
    for (const folder of ['/mnt/backup/drill', '/srv/holdfast/drill']) {
      expect(problematic({ ...backup, HOLDFAST_DRILL_FOLDER: folder })).toEqual(['HOLDFAST_DRILL_FOLDER'])
    }
    const off = { ...backup, HOLDFAST_DRILL_FOLDER: '/srv/drill', HOLDFAST_DRILL_DAYS: '0' }
    expect(problematic(off)).toEqual(['HOLDFAST_DRILL_FOLDER'])
  })

  test('in a bucket need a key, and a bucket that nothing else has', () => {
    const bucket = { HOLDFAST_BACKUP: 'https://s3.example.org/backup' }
    expect(problematic(bucket)).toEqual(['HOLDFAST_S3_ACCESS_KEY_ID', 'HOLDFAST_S3_SECRET_ACCESS_KEY'])
    const key = { HOLDFAST_S3_ACCESS_KEY_ID: 'id', HOLDFAST_S3_SECRET_ACCESS_KEY: 'hunter2' }
    expect(loadConfig({ ...bucket, ...key }).backup.own?.place).toMatchObject({ s3: { accessKeyId: 'id' } })
    expect(problematic({ ...bucket, ...key, HOLDFAST_MIRROR: bucket.HOLDFAST_BACKUP })).toEqual([
      'HOLDFAST_BACKUP',
    ])
  })

  test('make their other settings meaningless where there are none', () => {
    const { HOLDFAST_BACKUP: _, ...rest } = {
      ...backup,
      HOLDFAST_DRILL_DAYS: '1',
      HOLDFAST_BACKUP_HOURS: '1',
    }
    expect(problematic(rest).sort()).toEqual(['HOLDFAST_BACKUP_HOURS', 'HOLDFAST_DRILL_DAYS'])
  })
})

describe('mail', () => {
  const mail = {
    HOLDFAST_SMTP_URL: 'smtp://mail.example.org',
    HOLDFAST_MAIL_FROM: 'files@example.org',
    HOLDFAST_PUBLIC_URL: 'https://files.example.org',
  }

  test.each(['HOLDFAST_MAIL_FROM', 'HOLDFAST_PUBLIC_URL'])('without %s is refused', (variable) => {
    expect(loadConfig(mail).mail?.login).toBeNull()
    const problems = problemsOf({ ...mail, [variable]: '' })
    expect(problems.map((problem) => problem.variable)).toEqual([variable])
  })

  test('is from nobody where no server takes it', () => {
    const [problem] = problemsOf({ HOLDFAST_MAIL_FROM: 'files@example.org' })
    expect(problem?.reason).toContain('HOLDFAST_SMTP_URL')
  })
})

describe('an unknown HOLDFAST_ variable', () => {
  test('is refused with the nearest name there is', () => {
    expect(problemsOf({ HOLDFAST_STORAGE_LIMITS: '1GB' })[0]?.reason).toContain(
      'did you mean HOLDFAST_STORAGE_LIMIT?',
    )
    expect(problemsOf({ HOLDFAST_POTR: '1' })[0]?.reason).toContain('did you mean HOLDFAST_PORT?')
  })

  test('is refused with the way to the list when no name is near', () => {
    expect(problemsOf({ HOLDFAST_SOMETHING_ELSE_ENTIRELY: '1' })[0]?.reason).toContain('holdfast config')
  })
})

describe('values that contradict each other', () => {
  test('a file size that nobody could store is refused', () => {
    const [problem] = problemsOf({
      HOLDFAST_MAX_FILE_SIZE: '20GB',
      HOLDFAST_STORAGE_LIMIT: '15GB',
      HOLDFAST_GUEST_UPLOADS: 'false',
    })
    expect(problem).toEqual({
      variable: 'HOLDFAST_MAX_FILE_SIZE',
      value: '20GB',
      reason: 'nobody may store so much; allowed is up to HOLDFAST_STORAGE_LIMIT',
    })
  })

  test('a file size over the storage of an account is allowed when guests have the room', () => {
    expect(loadConfig({ HOLDFAST_MAX_FILE_SIZE: '20GB' }).maxFileSize).toBe(20 * GB)
  })

  test('a smaller storage limit needs no smaller file size beside it', () => {
    expect(loadConfig({ HOLDFAST_STORAGE_LIMIT: '1GB', HOLDFAST_GUEST_UPLOADS: '0' }).storageLimit).toBe(GB)
  })

  test('a token for metrics that are off is refused, and not repeated', () => {
    const [problem] = problemsOf({ HOLDFAST_METRICS_TOKEN: 'hunter2hunter2hunter2' })
    expect(problem).toEqual({
      variable: 'HOLDFAST_METRICS_TOKEN',
      value: '…',
      reason: 'it means nothing without HOLDFAST_METRICS=on; set that too, or leave this out',
    })
  })

  test('http content on an https site is refused', () => {
    const [problem] = problemsOf({
      HOLDFAST_PUBLIC_URL: 'https://files.example.org',
      HOLDFAST_CONTENT_URL: 'http://content.example.org',
    })
    expect(problem?.variable).toBe('HOLDFAST_CONTENT_URL')
  })
})

function errorOf(environment: Environment): ConfigError {
  try {
    loadConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  throw new Error(`not refused: ${JSON.stringify(environment)}`)
}

function problemsOf(environment: Environment) {
  return errorOf(environment).problems
}

test('what stands in a misspelt secret is not repeated', () => {
  const { message } = errorOf({ HOLDFAST_S3_SECRET_ACESS_KEY: 'hunter2' })
  expect(message).toContain('HOLDFAST_S3_SECRET_ACCESS_KEY')
  expect(message).not.toContain('hunter2')
})

test('the settings in force tell nothing that is secret', () => {
  const secret = 'hunter2hunter2'
  const secrets = Object.values(settings)
    .filter((setting: Setting<unknown>) => setting.isSecret)
    .map(({ variable }) => [variable, secret])
  expect(secrets.length).toBeGreaterThan(1)
  const shown = settingsInForce({
    ...Object.fromEntries(secrets),
    HOLDFAST_DATABASE_URL: `postgres://ada:${secret}@db.example/holdfast`,
  })
  expect(JSON.stringify(shown)).not.toContain(secret)
  expect(shown).toContainEqual(
    expect.objectContaining({
      variable: 'HOLDFAST_DATABASE_URL',
      value: 'postgres://ada:…@db.example/holdfast',
      isDefault: false,
    }),
  )
  expect(shown).toContainEqual(
    expect.objectContaining({ variable: 'HOLDFAST_STORAGE_LIMIT', value: '10GB', isDefault: true }),
  )
})
