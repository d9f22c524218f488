/** Connections to a PostgreSQL that speaks TLS, has an authority of its own and a Unix socket, and what a start says of each. */
// Only in test:all: a PostgreSQL of its own with TLS; start-failures.test.ts has messages.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { holdfast } from '../../support/cli/command.ts'
import { type PostgresServer, startPostgres, whyNoPostgres } from '../../support/databases/postgres.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { runProgram } from '../../support/processes/program.ts'
import { describeWith } from '../../support/processes/tools.ts'

const isHere = whyNoPostgres() === null && process.env.HOLDFAST_TEST_POSTGRES === undefined

describeWith(['openssl'], 'PostgreSQL by TLS', () => {
  const folder = temporaryFolder('/var/tmp')
  const at = (name: string) => join(folder.path, name)
  let server: PostgresServer
  let port: string

  beforeAll(async () => {
    if (!isHere) return
    chmodSync(folder.path, 0o755)
    await makeCertificates()
    server = await startPostgres({
      ssl: 'on',
      ssl_cert_file: at('server.pem'),
      ssl_key_file: at('server.key'),
      unix_socket_directories: at('socket'),
    })
    port = new URL(server.url).port
    await ask("create role app login password 'pass'", 'create database app owner app')
    await ask('create role nobody login', "create role other login password 'pass'")
    writeFileSync(
      join(server.dataDir, 'pg_hba.conf'),
      [
        'host all postgres 127.0.0.1/32 trust',
        'hostssl all app 127.0.0.1/32 scram-sha-256',
        'local all app scram-sha-256',
        'local all nobody peer',
        'hostnossl all other 127.0.0.1/32 scram-sha-256',
        '',
      ].join('\n'),
    )
    await ask('select pg_reload_conf()')
  })
  afterAll(async () => {
    if (isHere) await server.stop()
    folder[Symbol.dispose]()
  })

  const openssl = async (...words: string[]) => {
    const { code, errors } = await runProgram(['openssl', ...words])
    if (code !== 0) throw new Error(errors)
  }
  /** An authority of one's own, a certificate of it for localhost, and an authority that has nothing to do with them. */
  async function makeCertificates(): Promise<void> {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    for (const name of ['authority', 'stranger'])
      await openssl(
        'req',
        '-x509',
        ...key,
        '-subj',
        `/CN=${name}`,
        '-days',
        '2',
        '-keyout',
        at(`${name}.key`),
        '-out',
        at(`${name}.pem`),
      )
    await openssl(
      'req',
      '-new',
      ...key,
      '-subj',
      '/CN=localhost',
      '-keyout',
      at('server.key'),
      '-out',
      at('server.csr'),
    )
    writeFileSync(at('names'), 'subjectAltName=DNS:localhost\n')
    const signed = [
      '-CA',
      at('authority.pem'),
      '-CAkey',
      at('authority.key'),
      '-CAcreateserial',
      '-days',
      '2',
    ]
    await openssl(
      'x509',
      '-req',
      '-in',
      at('server.csr'),
      ...signed,
      '-extfile',
      at('names'),
      '-out',
      at('server.pem'),
    )
    chmodSync(at('server.key'), 0o600)
    await runProgram(['mkdir', at('socket')])
    if (process.getuid?.() === 0)
      await runProgram(['chown', 'postgres:postgres', at('server.key'), at('server.pem'), at('socket')])
  }

  async function ask(...statements: string[]): Promise<unknown[]> {
    const client = new Client({ connectionString: server.url })
    await client.connect()
    try {
      const rows: unknown[] = []
      for (const statement of statements) rows.push(...(await client.query(statement)).rows)
      return rows
    } finally {
      await client.end()
    }
  }

  /** What a command says with that address, which has the place of the port in it. */
  const said = async (url: string, words = ['account', 'add', `ann-${crypto.randomUUID().slice(0, 8)}`]) => {
    const data = { HOLDFAST_DATA_DIR: at('data') }
    const address = url.replace('PORT', port).replaceAll('HERE', folder.path)
    const { code, errors } = await holdfast(folder.path, words, { ...data, HOLDFAST_DATABASE_URL: address })
    expect(errors).not.toContain('SECURITY WARNING')
    return code === 0 ? 'works' : errors
  }

  test.skipIf(!isHere).each([
    ['require encrypts, and takes any certificate', 'postgres://app:pass@127.0.0.1:PORT/app?sslmode=require'],
    [
      'verify-ca takes one of the authority, whatever its name',
      'postgres://app:pass@127.0.0.1:PORT/app?sslmode=verify-ca&sslrootcert=HERE/authority.pem',
    ],
    [
      'verify-full takes one of the authority for that name',
      'postgres://app:pass@localhost:PORT/app?sslmode=verify-full&sslrootcert=HERE/authority.pem',
    ],
    ['a socket is named by its folder', 'postgres://app:pass@/app?host=HERE/socket&port=PORT'],
    ['a socket is named by its folder in the place of the host', 'postgres://app:pass@HERE_ENCODED:PORT/app'],
  ])('%s', async (_, url) => {
    expect(await said(url.replace('HERE_ENCODED', encodeURIComponent(at('socket'))))).toBe('works')
  })

  test.skipIf(!isHere)('a connection with sslmode is encrypted', async () => {
    const statement =
      "select pid, ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'app'"
    const url = `postgres://app:pass@127.0.0.1:${port}/app?sslmode=require`
    const { openPostgres } = await import('../../../src/database/postgres.ts')
    const db = openPostgres(url, { connections: 1, durable: true, report() {} })
    await db.selectNoFrom((is) => is.val(1).as('one')).execute()
    expect(await ask(statement)).toMatchObject([{ ssl: true }])
    await db.destroy()
  })

  test.skipIf(!isHere).each([
    [
      'a server that takes encrypted connections alone',
      'postgres://app:pass@127.0.0.1:PORT/app',
      'takes no connection from here that is not encrypted',
    ],
    ['disable, at such a server', 'postgres://app:pass@127.0.0.1:PORT/app?sslmode=disable', 'hostssl'],
    [
      'no line for encrypted connections',
      'postgres://other:pass@127.0.0.1:PORT/app?sslmode=require',
      'no line in its pg_hba.conf',
    ],
    [
      'an authority that is not known',
      'postgres://app:pass@localhost:PORT/app?sslmode=verify-full',
      'an authority that this machine does not know',
    ],
    [
      'another authority',
      'postgres://app:pass@localhost:PORT/app?sslmode=verify-full&sslrootcert=HERE/stranger.pem',
      'is not signed by the authority in',
    ],
    [
      'another authority, with the name left out',
      'postgres://app:pass@localhost:PORT/app?sslmode=verify-ca&sslrootcert=HERE/stranger.pem',
      'is not signed by the authority in',
    ],
    [
      'another name',
      'postgres://app:pass@127.0.0.1:PORT/app?sslmode=verify-full&sslrootcert=HERE/authority.pem',
      'is for another name than "127.0.0.1"',
    ],
    [
      'a certificate file that is not there',
      'postgres://app:pass@localhost:PORT/app?sslmode=verify-full&sslrootcert=HERE/none.pem',
      'the file that sslrootcert in HOLDFAST_DATABASE_URL names cannot be read',
    ],
    [
      'an authority that has to be named',
      'postgres://app:pass@localhost:PORT/app?sslmode=verify-ca',
      'which verify-ca needs',
    ],
    [
      'a mode that would go on without encryption',
      'postgres://app:pass@localhost:PORT/app?sslmode=prefer',
      'sslmode=disable, require, verify-ca or verify-full',
    ],
    [
      'a wrong password',
      'postgres://app:wrong@127.0.0.1:PORT/app?sslmode=require',
      'refuses the user "app" or the password',
    ],
    ['a socket that is not there', 'postgres://app:pass@/app?host=HERE/none&port=PORT', 'there is no socket'],
    [
      'a socket for the system’s own users',
      'postgres://nobody@/app?host=HERE/socket&port=PORT',
      "only for the system's user of that name (peer)",
    ],
  ])('%s is told as what it is', async (_, url, expected) => {
    const message = await said(url)
    expect(message).toContain(expected)
    expect(message).not.toContain('pass@')
  })

  test.skipIf(!isHere)(
    'a server without TLS is told as what it is, and so is one that is not there',
    async () => {
      const plain = await startPostgres()
      try {
        expect(await said(`${plain.url}?sslmode=require`)).toContain(
          'speaks no TLS, and HOLDFAST_DATABASE_URL asks for it',
        )
      } finally {
        await plain.stop()
      }
      expect(await said(`${plain.url}?sslmode=require`)).toContain('does not answer at 127.0.0.1:')
      expect(existsSync(at('data/holdfast.sqlite'))).toBe(false)
    },
  )
})
