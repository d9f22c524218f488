/** What keeps a server from starting: each message names the setting, says what is wrong and what to do. */
// Only in test:all: many starts of the program; serve.test.ts has some.
import { describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAIN, outcome } from '../../support/cli/command.ts'
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { createDatabase, whyNoPostgres } from '../../support/databases/postgres.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { newBucket, whyNoCeph } from '../../support/storage/ceph.ts'

type Settings = Readonly<Record<string, string>>

/** Expects the start to fail with these words, in one line without a stack. */
async function refuses(folder: string, settings: Settings, ...words: readonly string[]): Promise<void> {
  const { code, errors } = await holdfast(folder, ['serve'], { HOLDFAST_PORT: '0', ...settings })
  expect(code).toBe(1)
  for (const word of words) expect(errors).toContain(word)
  expect(errors).not.toMatch(/^\s+at /m)
  expect(errors.trim().split('\n').length).toBeLessThanOrEqual(2)
}

/** What a command says that fails for a user who owns nothing, and does not need the rights of root to read the program. */
async function asNobody(folder: string, words: readonly string[], settings: Settings, exits = 1) {
  const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
  const { code, errors } = await outcome(
    [...nobody, process.execPath, '--no-env-file', MAIN, ...words],
    folder,
    { HOLDFAST_PORT: '0', HOME: '/nonexistent', ...settings },
  )
  expect({ code, errors }).toEqual({ code: exits, errors: expect.not.stringMatching(/^\s+at /m) })
  return errors
}

describe('a server that cannot start says why:', () => {
  test('a host that does not resolve, or is another machine', async () => {
    using folder = temporaryFolder()
    for (const host of ['no.such.host.invalid', '203.0.113.7']) {
      await refuses(folder.path, { HOLDFAST_HOST: host }, `HOLDFAST_HOST is ${host}`, '127.0.0.1')
    }
  })

  test('a port in use', async () => {
    using folder = temporaryFolder()
    using other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('') })
    const port = String(other.port)
    await refuses(folder.path, { HOLDFAST_PORT: port }, `HOLDFAST_PORT is ${port}`, 'ss -ltnp')
  })

  test('a corrupt database', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'data/holdfast.sqlite')
    mkdirSync(join(folder.path, 'data'))
    writeFileSync(path, Buffer.alloc(20_000, 'no database '))
    await refuses(folder.path, {}, path, 'is damaged', 'restore the last backup')
  })

  test.skipIf(process.getuid?.() !== 0)('a data folder of somebody else', async () => {
    using folder = temporaryFolder()
    const data = join(folder.path, 'data')
    mkdirSync(data)
    // Whatever umask a server has left to this process.
    for (const each of [folder.path, data]) chmodSync(each, 0o755)
    const errors = await asNobody(folder.path, ['serve'], {})
    expect(errors).toContain(`HOLDFAST_DATA_DIR: ${data} cannot be written.`)
    expect(errors).toContain('belongs to user 0 with mode 755. Holdfast runs as user 65534')
    expect(errors).toContain(`"chown 65534 ${data}"`)
  })

  test.skipIf(process.getuid?.() !== 0)(
    'a command that the wrong user runs, for whom the data is closed',
    async () => {
      using folder = temporaryFolder()
      const data = join(folder.path, 'data')
      expect((await holdfast(folder.path, ['account', 'add', 'ann'])).code).toBe(0)
      for (const [path, mode] of [
        [folder.path, 0o755],
        [data, 0o700],
      ] as const)
        chmodSync(path, mode)
      const commands = [
        'account list',
        'admin statistics',
        'check',
        'doctor',
        'takeover',
        'secret rotate',
        'key list ann',
      ]
      for (const words of [...commands, 'backup bk', 'relocate --to-data-dir x'].map((each) =>
        each.split(' '),
      )) {
        const errors = await asNobody(folder.path, words, {})
        expect(errors).toContain(`the user "nobody" may not look into ${data}. Run this as the user "root"`)
        expect(errors).not.toContain('no Holdfast data')
      }
    },
  )

  test.skipIf(process.getuid?.() !== 0)('folders that cannot be made or reached', async () => {
    using folder = temporaryFolder()
    chmodSync(folder.path, 0o755)
    const missing = join(folder.path, 'a/b')
    const parent = await asNobody(folder.path, ['serve'], { HOLDFAST_DATA_DIR: missing })
    expect(parent).toContain(`HOLDFAST_DATA_DIR: ${missing} cannot be written. ${folder.path} belongs`)
    // What else lies in a folder above is not given away.
    expect(parent).toContain(`"mkdir -p ${missing} && chown 65534 ${missing}"`)
    const closed = join(folder.path, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const hidden = await asNobody(folder.path, ['serve'], { HOLDFAST_DATA_DIR: join(closed, 'x') })
    expect(hidden).toContain(`HOLDFAST_DATA_DIR: ${closed}/x cannot be reached`)
    expect(hidden).not.toContain('chown')
  })

  test.skipIf(process.getuid?.() !== 0)('a backup folder that cannot be written', async () => {
    using folder = temporaryFolder()
    const own = join(folder.path, 'own')
    mkdirSync(own)
    chownSync(own, 65534, 65534)
    for (const each of [folder.path, own]) chmodSync(each, 0o755)
    expect(await asNobody(own, ['migrate'], {}, 0)).toBe('')
    const place = join(folder.path, 'bk')
    const ofServer = await asNobody(own, ['backup', '--for-server'], { HOLDFAST_BACKUP: place })
    expect(ofServer).toContain(`HOLDFAST_BACKUP: ${place} cannot be written.`)
    const byHand = await asNobody(own, ['backup', place], {})
    expect(byHand).toContain(`error: ${place} cannot be written.`)
    expect(byHand).not.toContain('HOLDFAST_')
  })

  test('a data folder that is a file, or cannot be made', async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, 'data'), '')
    await refuses(folder.path, {}, 'HOLDFAST_DATA_DIR', 'is not a folder')
    await refuses(
      folder.path,
      { HOLDFAST_DATA_DIR: '/proc/none' },
      'HOLDFAST_DATA_DIR',
      '/proc/none cannot be made',
    )
  })

  test('a public address without a scheme or with a path', async () => {
    using folder = temporaryFolder()
    for (const url of ['files.example.org', 'https://files.example.org/files']) {
      const { errors } = await holdfast(folder.path, ['serve'], { HOLDFAST_PUBLIC_URL: url })
      expect(errors).toContain(`HOLDFAST_PUBLIC_URL is "${url}"`)
      expect(errors).toContain('such as https://files.example.org')
    }
  })

  test('a PostgreSQL that is away or has another name', async () => {
    using folder = temporaryFolder()
    const port = await freePort()
    const away = { HOLDFAST_DATABASE_URL: `postgres://ann:secret@127.0.0.1:${port}/holdfast` }
    await refuses(folder.path, away, 'HOLDFAST_DATABASE_URL', `127.0.0.1:${port}`, 'pg_isready')
    const nowhere = { HOLDFAST_DATABASE_URL: 'postgres://ann:secret@no.such.host.invalid/holdfast' }
    await refuses(folder.path, nowhere, 'HOLDFAST_DATABASE_URL', 'no.such.host.invalid', 'does not resolve')
  })

  test.skipIf(whyNoPostgres() !== null)(
    'a PostgreSQL that refuses the user, or has no such database',
    async () => {
      using folder = temporaryFolder()
      const { url, drop } = await createDatabase()
      try {
        const other = new URL(url)
        other.pathname = '/nobody_made_this'
        await refuses(folder.path, { HOLDFAST_DATABASE_URL: other.href }, 'nobody_made_this', 'createdb')
        const stranger = new URL(url)
        stranger.username = 'stranger'
        stranger.password = 'the secret'
        const { errors } = await holdfast(folder.path, ['serve'], { HOLDFAST_DATABASE_URL: stranger.href })
        expect(errors).toContain('refuses the user "stranger"')
        expect(errors).not.toContain('secret')
      } finally {
        await drop()
      }
    },
  )

  test('an S3 store that is away, and a path style that cannot be', async () => {
    using folder = temporaryFolder()
    const port = await freePort()
    const s3 = (endpoint: string, pathStyle: boolean) => ({
      HOLDFAST_S3_ENDPOINT: endpoint,
      HOLDFAST_S3_BUCKET: 'files',
      HOLDFAST_S3_ACCESS_KEY_ID: 'id',
      HOLDFAST_S3_SECRET_ACCESS_KEY: 'the secret',
      HOLDFAST_S3_PATH_STYLE: String(pathStyle),
    })
    await refuses(
      folder.path,
      s3(`http://127.0.0.1:${port}`, true),
      'HOLDFAST_S3_ENDPOINT',
      'cannot be reached',
    )
    const named = s3(`http://store.invalid:${port}`, false)
    await refuses(folder.path, named, 'http://files.store.invalid', 'HOLDFAST_S3_PATH_STYLE=true')
    const { errors } = await holdfast(folder.path, ['serve'], s3(`http://127.0.0.1:${port}`, false))
    expect(errors).toContain('HOLDFAST_S3_PATH_STYLE is "false": HOLDFAST_S3_ENDPOINT is an IP address')
  })

  test.skipIf(whyNoCeph() !== null)('an S3 store that refuses the key', async () => {
    using folder = temporaryFolder()
    const { endpoint, bucket, region, accessKeyId } = await newBucket()
    const s3 = {
      HOLDFAST_S3_ENDPOINT: endpoint,
      HOLDFAST_S3_BUCKET: bucket,
      HOLDFAST_S3_REGION: region,
      HOLDFAST_S3_ACCESS_KEY_ID: accessKeyId,
      HOLDFAST_S3_SECRET_ACCESS_KEY: 'not the right one',
      HOLDFAST_S3_PATH_STYLE: 'true',
    }
    await refuses(folder.path, s3, endpoint, 'HOLDFAST_S3_SECRET_ACCESS_KEY', 'HOLDFAST_S3_REGION')
  })
})
