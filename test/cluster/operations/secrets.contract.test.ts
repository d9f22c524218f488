/** What an installation signs and encrypts with: in its database, or given from outside, and changed by one command. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { startHoldfast as start } from '../../../src/app.ts'
import { type Config, loadConfig, type SecretSource } from '../../../src/config.ts'
import { createAuditLog } from '../../../src/core/audit-log.ts'
import { metaOf } from '../../../src/core/meta.rows.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createLog } from '../../../src/log.ts'
import { rotateSecretsOf } from '../../../src/operations/secrets.ts'
import { PASSWORD, visitor } from '../../support/clients/site-visitor.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { codeOf } from '../../support/sign-in/codes.ts'

const ONE = 'the first secret that is given, of many characters'
const TWO = 'another secret that is given, of as many characters'

const folder = temporaryFolder()
const log = createLog('silent', { terminal: false })

function parts(secret: SecretSource | null) {
  const config: Config = {
    ...loadConfig({}),
    port: 0,
    minFreeSpace: 0,
    signUp: 'open',
    dataDir: folder.path,
    secret,
  }
  return { config, clock: systemClock, random: systemRandom, log, settings: [] }
}
const text = (secret: string): SecretSource => ({ kind: 'text', text: secret })

async function file(secret: string): Promise<string> {
  const path = join(folder.path, `${Bun.hash(secret)}.secret`)
  await Bun.write(path, `${secret}\n`)
  return path
}

async function keptInDatabase(): Promise<(string | null)[]> {
  const { db, close } = await openDatabase()
  try {
    return [await metaOf(db, 'link_secret'), await metaOf(db, 'auth_secret')]
  } finally {
    await close()
  }
}

/** What the audit log says of rotations, the earliest first. */
async function rotations(): Promise<unknown[]> {
  const { db, close } = await openDatabase()
  try {
    const { entries } = await createAuditLog(db).list('secret.rotated', 1, 100)
    return entries.map(({ details }) => details).reverse()
  } finally {
    await close()
  }
}

async function openDatabase() {
  const db = openSqlite(join(folder.path, 'holdfast.sqlite'))
  return { db, close: () => db.destroy() }
}

const rotate = async (to: SecretSource | null, former: string | null = null, mayDropCodes = false) =>
  rotateSecretsOf(parts(to), { formerFile: former === null ? null : await file(former), mayDropCodes })

let appSecret = ''
let sessionCookies: ReadonlyMap<string, string>

/** Starts the server, and stops it when `work` is done. */
async function served<T>(secret: SecretSource | null, work: (url: string) => Promise<T>): Promise<T> {
  const host = await start(parts(secret))
  try {
    return await work(host.url)
  } finally {
    await host.stop()
  }
}

beforeAll(async () => {
  await served(null, async (url) => {
    const person = visitor(() => url)
    await person.send('POST', '/api/v1/account', { username: 'grace', password: PASSWORD })
    const begun = await person.send('POST', '/api/v1/account/codes', { password: PASSWORD })
    appSecret = begun.data(z.object({ secret: z.string() })).secret
    const code = codeOf(appSecret, -1)
    expect((await person.send('POST', '/api/v1/account/codes/confirm', { code })).status).toBe(200)
    sessionCookies = new Map(person.cookies)
    await expect(rotate(null)).rejects.toThrow()
  })
}, 120_000)
afterAll(() => folder[Symbol.dispose]())

async function isSignedIn(url: string): Promise<boolean> {
  const person = visitor(() => url)
  for (const [name, value] of sessionCookies) person.cookies.set(name, value)
  return (await person.get('/api/v1/session')).status === 200
}

/** What signing in comes to with the password, and with the code of so many half minutes later. */
async function signIn(url: string, later: number): Promise<string | null> {
  const person = visitor(() => url)
  await person.send('POST', '/api/v1/session', { username: 'grace', password: PASSWORD })
  return (await person.send('POST', '/api/v1/session/code', { code: codeOf(appSecret, later) })).error
}

describe('an installation whose secret lies in its database', () => {
  test('goes on as it was, and starts with no other until that is asked for', async () => {
    expect(await served(null, isSignedIn)).toBe(true)
    expect((await keptInDatabase()).every((secret) => secret !== null)).toBe(true)
    await expect(start(parts(text(ONE)))).rejects.toThrow('holdfast secret rotate')
    expect((await keptInDatabase()).every((secret) => secret !== null)).toBe(true)
  })

  test('goes over to one that is given: none is left in the database, sessions end, codes and passwords stay', async () => {
    expect(await rotate(text(ONE))).toEqual({ withoutCodes: 0 })
    expect(await keptInDatabase()).toEqual([null, null])
    expect(await rotations()).toEqual([{ kept: 'outside', codes_turned_off: 0 }])
    await served({ kind: 'file', path: await file(ONE) }, async (url) => {
      expect(await isSignedIn(url)).toBe(false)
      expect(await signIn(url, 0)).toBeNull()
    })
    expect(await keptInDatabase()).toEqual([null, null])
  })
})

describe('an installation whose secret is given', () => {
  test('starts with that one alone', async () => {
    await expect(start(parts(text(TWO)))).rejects.toThrow('holdfast secret rotate')
    await expect(start(parts(null))).rejects.toThrow('HOLDFAST_SECRET_FILE')
    await expect(start(parts({ kind: 'file', path: join(folder.path, 'nothing') }))).rejects.toThrow(
      'cannot be read',
    )
  })

  test('goes over to another by the former one, or without the codes that only that one reads', async () => {
    await expect(rotate(text(TWO))).rejects.toThrow('--former-file')
    await expect(rotate(text(TWO), TWO)).rejects.toThrow('not the one')
    expect(await rotate(text(TWO), ONE)).toEqual({ withoutCodes: 0 })
    await served(text(TWO), async (url) => expect(await signIn(url, 1)).toBeNull())
    expect(await rotate(null, null, true)).toEqual({ withoutCodes: 1 })
    expect((await rotations()).at(-1)).toEqual({ kept: 'in the database', codes_turned_off: 1 })
    // Refused ones are not there.
    expect(await rotations()).toHaveLength(3)
    await served(null, async (url) => {
      const person = visitor(() => url)
      await person.send('POST', '/api/v1/session', { username: 'grace', password: PASSWORD })
      expect((await person.get('/api/v1/session')).status).toBe(200)
    })
  })
})
