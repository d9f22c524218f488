/**
 * Makes the fixture beside it: people who sign in by everything there is, as the server that is checked out keeps them.
 * `rows.sql` and `values.json` were made while better-auth kept them; `bun test/accounts/sign-in/former/make.ts` makes
 * others, and belongs to the commit in which a way of keeping ends.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { PASSWORD, type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { createAuthenticator } from '../../../support/sign-in/authenticator.ts'
import { codeOf } from '../../../support/sign-in/codes.ts'
import { startForgingServer } from '../../../support/sign-in/forging-oidc-server.ts'
import { CLIENT } from '../../../support/sign-in/oidc-server.ts'
import { comeBy } from '../../../support/sign-in/oidc-visit.ts'
import { type FormerValues, PUBLIC } from './values.ts'

const codes = z.object({ secret: z.string(), recovery_codes: z.array(z.string()) })
const asked = z.object({ challenge: z.string() })

async function signUp(host: TestHoldfast, username: string): Promise<Visitor> {
  const person = visitor(() => host.url)
  await succeed(person, 'POST', '/api/v1/account', { username, password: PASSWORD })
  return person
}

async function succeed(person: Visitor, method: string, path: string, body: unknown) {
  const reply = await person.send(method, path, body)
  if (reply.status !== 200) throw new Error(`${path} was answered ${reply.status}: ${reply.text}`)
  return reply
}

/** Codes that count, one recovery code of which is used up. */
async function withCodes(host: TestHoldfast) {
  const person = await signUp(host, 'bert')
  const { secret, recovery_codes } = (
    await succeed(person, 'POST', '/api/v1/account/codes', { password: PASSWORD })
  ).data(codes)
  await succeed(person, 'POST', '/api/v1/account/codes/confirm', { code: codeOf(secret) })
  const browser = visitor(() => host.url)
  await succeed(browser, 'POST', '/api/v1/session', { username: 'bert', password: PASSWORD })
  const [usedUp = '', ...recoveryCodes] = recovery_codes
  await succeed(browser, 'POST', '/api/v1/session/code', { code: usedUp })
  return { secret, recoveryCodes, usedUp, cookies: [...person.cookies] }
}

/** Two passkeys: of a device that does not count, and of one that has counted to 7. */
async function withPasskeys(host: TestHoldfast) {
  const person = await signUp(host, 'carla')
  const kept = []
  for (const counter of [0, 7]) {
    const device = createAuthenticator(PUBLIC)
    const { challenge } = (
      await succeed(person, 'POST', '/api/v1/passkeys/options', { password: PASSWORD })
    ).data(asked)
    const answer = device.make(challenge, { counter })
    await succeed(person, 'POST', '/api/v1/passkeys', { name: `counts from ${counter}`, answer })
    kept.push({ ...device.passkey, counter })
  }
  return kept
}

async function withCodesBegun(host: TestHoldfast) {
  const person = await signUp(host, 'emil')
  const begun = await succeed(person, 'POST', '/api/v1/account/codes', { password: PASSWORD })
  return { secret: begun.data(codes).secret, cookies: [...person.cookies] }
}

/** Their ids are left to the database, but for those that other rows hold. */
const TABLES = ['accounts', 'folders', 'identities', 'sessions', 'passkeys', 'two_factors'] as const

async function dump({ database }: TestHoldfast): Promise<string> {
  const lines: string[] = []
  for (const table of TABLES) {
    for (const row of await database.selectFrom(table).selectAll().orderBy('id').execute()) {
      const columns = Object.entries(row).filter(([name]) => table === 'accounts' || name !== 'id')
      const isOfGuests = columns.some(
        ([name, value]) => name === (table === 'accounts' ? 'id' : 'account_id') && value === 0,
      )
      if (!isOfGuests) lines.push(insert(table, columns))
    }
  }
  const secrets = await database
    .selectFrom('meta')
    .selectAll()
    .where('key', 'in', ['link_secret', 'auth_secret'])
    .orderBy('key')
    .execute()
  for (const row of secrets) lines.push(insert('meta', Object.entries(row)))
  return `${lines.join('\n')}\n`
}

function insert(table: string, columns: readonly [string, unknown][]): string {
  const names = columns.map(([name]) => name).join(', ')
  return `insert into ${table} (${names}) values (${columns.map(([, value]) => literal(value)).join(', ')});`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

await using other = startForgingServer()
const oidc = { issuer: other.issuer, name: 'Home', ...CLIENT }
const host = await startHoldfast({ publicUrl: PUBLIC, signUp: 'open', oidc })
try {
  const anna = await signUp(host, 'anna')
  const dora = visitor(() => host.url)
  await comeBy(other, dora, '/sign-in/oidc', { sub: 'dora-at-home' })
  const people = {
    anna: { cookies: [...anna.cookies] },
    bert: await withCodes(host),
    carla: { passkeys: await withPasskeys(host) },
    dora: { subject: 'dora-at-home', cookies: [...dora.cookies] },
    emil: await withCodesBegun(host),
  }
  const values: FormerValues = { madeAt: Date.now(), password: PASSWORD, ...people }
  await Bun.write(join(import.meta.dir, 'values.json'), `${JSON.stringify(values, null, 2)}\n`)
  await Bun.write(join(import.meta.dir, 'rows.sql'), await dump(host))
} finally {
  await host.stop()
}
