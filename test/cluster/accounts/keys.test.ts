import { beforeEach, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { createKeys } from '../../../src/accounts/keys.ts'
import { HOUR, MINUTE, systemClock, timestamp } from '../../../src/domain/clock.ts'
import type { FolderIdentifier, KeyId } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { type Answer, type Api, api, refusal, TIMESTAMP } from '../../support/clients/api.ts'
import { PASSWORD, signedIn, type Visitor } from '../../support/clients/site-visitor.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

let owner: Api
let username: string
/** Their browser. */
let person: Visitor
beforeEach(async () => {
  const account = await holdfast.addAccount()
  username = account.username
  owner = api(holdfast, account.apiKey)
  person = await signedIn(holdfast, username)
})

const created = z.object({ data: z.object({ id: z.number(), prefix: z.string(), api_key: z.string() }) })
const listed = z.object({
  data: z.array(z.object({ id: z.number(), name: z.string(), last_used_at: z.string().nullable() })),
})

async function ask(key: Record<string, unknown>): Promise<Pick<Answer, 'status' | 'body'>> {
  const { status, text } = await person.send('POST', '/api/v1/key', {
    name: 'a key',
    scopes: ['read'],
    ...key,
  })
  return { status, body: JSON.parse(text) }
}
const revoke = (caller: Api, id: number | string) => caller.send(`/api/v1/key/${id}`, { method: 'DELETE' })
const keysOf = async (caller: Api) => listed.parse((await caller.get('/api/v1/keys')).body).data

async function make(key: Record<string, unknown> = {}): Promise<{ id: number; prefix: string; as: Api }> {
  const answer = await ask(key)
  expect(answer.status).toBe(201)
  const { id, prefix, api_key } = created.parse(answer.body).data
  return { id, prefix, as: api(holdfast, api_key) }
}

describe('a new key', () => {
  test('is shown once, and then described', async () => {
    const folder = await owner.folder('Photos')
    const expires_at = timestamp(holdfast.clock.now() + HOUR)
    const answer = await ask({ name: ' phone ', scopes: ['upload', 'read'], folder, expires_at })
    const { id, api_key } = created.parse(answer.body).data
    const described = {
      id,
      name: 'phone',
      prefix: api_key.slice(0, 11),
      scopes: ['read', 'upload'],
      folder,
      folder_name: 'Photos',
      expires_at,
      created_at: expect.stringMatching(TIMESTAMP),
      last_used_at: null,
    }
    expect(answer).toMatchObject({ status: 201, body: { success: true, data: { ...described, api_key } } })
    const list = await owner.get('/api/v1/keys')
    expect(list.body).toMatchObject({
      data: [{ name: 'first key', folder: null, expires_at: null }, described],
    })
    expect(JSON.stringify(list.body)).not.toContain(api_key)
  })

  test('works until the time it was given, on every node', async () => {
    const { as } = await make({ expires_at: timestamp(holdfast.clock.now() + MINUTE) })
    for (let request = 0; request < 5; request++) {
      expect((await as.get('/api/v1/files')).status).toBe(200)
    }
    holdfast.clock.advance(MINUTE)
    for (let request = 0; request < 5; request++) {
      expect(await as.get('/api/v1/files')).toMatchObject(refusal('INVALID_API_KEY'))
    }
  })

  test.each<[string, Record<string, unknown>]>([
    ['without scopes', { scopes: [] }],
    ['with a scope that there is not', { scopes: ['read', 'write'] }],
    ['with an end that is no time', { expires_at: 'tomorrow' }],
    ['with an end that has passed', { expires_at: '2020-01-01T00:00:00Z' }],
    ['with a folder that is no text', { folder: 7 }],
  ])('is refused %s', async (_, key) => {
    expect(await ask(key)).toMatchObject(refusal('INVALID_REQUEST'))
  })

  test('is refused without a name, with one that is no line of text, and for a folder that is not there', async () => {
    for (const name of [' ', 'a\0b', 'a\nb', 'a\ud800b']) {
      expect(await ask({ name })).toMatchObject(refusal('INVALID_NAME'))
    }
    expect(await ask({ folder: 'a'.repeat(16) })).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    expect(await keysOf(owner)).toHaveLength(1)
  })
})

test('an account has 100 keys at most, also when they are asked for at once', async () => {
  const answers = await Promise.all(Array.from({ length: 110 }, () => ask({})))
  const refused = answers.filter(({ status }) => status !== 201)
  for (const answer of refused) expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
  expect(refused).toHaveLength(11)
  const [, { id } = { id: 0 }] = await keysOf(owner)
  await revoke(owner, id)
  await make()
  expect(await keysOf(owner)).toHaveLength(100)
})

describe('a key', () => {
  test('that is revoked is refused with the next request on every node, and is listed no more', async () => {
    const { id, as } = await make()
    expect((await as.get('/api/v1/files')).status).toBe(200)
    expect(await revoke(owner, id)).toMatchObject({ status: 200, body: { success: true } })
    for (let request = 0; request < 5; request++) {
      expect(await as.get('/api/v1/files')).toMatchObject(refusal('INVALID_API_KEY'))
    }
    expect((await keysOf(owner)).map((key) => key.name)).toEqual(['first key'])
    for (const unknown of [id, 'x', '0', '9'.repeat(30)]) {
      expect(await revoke(owner, unknown)).toMatchObject(refusal('NOT_FOUND'))
    }
  })

  test('is revoked by its beginning, unless another key of the account begins alike', async () => {
    const { database } = holdfast
    const keys = createKeys(database, systemClock, systemRandom)
    const [first, second, third] = [await make(), await make(), await make()]
    const prefix = 'hf_the_same'
    for (const { id } of [first, second]) {
      await database
        .updateTable('api_keys')
        .set({ prefix })
        .where('id', '=', id as KeyId)
        .execute()
    }
    await expect(keys.revoke(username, prefix)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect(await keysOf(owner)).toHaveLength(4)
    await keys.revoke(username, third.prefix)
    await keys.revoke(username, String(second.id))
    expect((await keysOf(owner)).map(({ id }) => id)).toEqual([expect.any(Number), first.id])
  })

  test.each<[string, (as: Api, slug: string) => Promise<Answer>]>([
    ['a request', (as) => as.get('/api/v1/files')],
    ['a look at a private file', (as, slug) => as.get(`/d/${slug}`)],
  ])('tells when it was last used, by %s', async (_, use) => {
    const folder = await owner.folder('private', { public: 0 })
    const { slug } = await owner.put('x', { folder })
    const { id, as } = await make()
    const lastUse = async () => (await keysOf(owner)).find((key) => key.id === id)?.last_used_at ?? null
    const before = holdfast.clock.now()
    expect((await use(as, slug)).status).toBe(200)
    await holdfast.runJobs()
    expect(Date.parse((await lastUse()) ?? '')).toBeGreaterThanOrEqual(before)
  })
})

test('who is signed in lists, makes and revokes keys, also such as outlive the session', async () => {
  const reply = await person.send('POST', '/api/v1/key', { name: 'made here', scopes: ['read', 'manage'] })
  const { id, api_key } = reply.data(created.shape.data)
  const made = api(holdfast, api_key)
  await person.send('DELETE', '/api/v1/session')
  expect((await made.get('/api/v1/files')).status).toBe(200)
  const again = await signedIn(holdfast, username)
  const all = (await again.get('/api/v1/keys')).data(listed.shape.data)
  expect(all.map(({ name }) => name)).toEqual(['first key', 'made here'])
  expect((await again.send('DELETE', `/api/v1/key/${id}`)).status).toBe(200)
  expect(await made.get('/api/v1/files')).toMatchObject(refusal('INVALID_API_KEY'))
})

test('no key makes a passkey or anything else to sign in by, whatever it may do', async () => {
  for (const [path, body] of [
    ['/api/v1/passkeys/options', {}],
    ['/api/v1/account/codes', {}],
    ['/api/v1/account/mail', { address: 'me@example.org' }],
    ['/api/v1/invitations', {}],
    ['/api/v1/session/proof', { password: PASSWORD }],
  ] as const) {
    expect([path, (await owner.post(path, body)).status]).toEqual([path, 401])
  }
  expect(await keysOf(owner)).toHaveLength(1)
})

describe('a key that is not good for everything', () => {
  test('makes none that can do more, and what is left open is as with itself', async () => {
    const folder = await owner.folder('here')
    const below = await owner.folder('below', { parent: folder })
    const end = holdfast.clock.now() + HOUR
    const key = await holdfast.addKey(username, {
      scopes: ['read', 'manage'],
      folder: folder as FolderIdentifier,
      expiresAt: end,
    })
    const caller = api(holdfast, key)
    const ask = (wanted: Record<string, unknown>) =>
      caller.post('/api/v1/key', { name: 'a key', scopes: ['read'], ...wanted })
    const missing = await ask({ scopes: ['read', 'upload'] })
    expect(missing).toMatchObject(refusal('SCOPE_MISSING'))
    expect(missing.body).toMatchObject({ message: expect.stringContaining('"upload"') })
    const later = timestamp(end + 1)
    expect(await ask({ expires_at: later })).toMatchObject(refusal('INVALID_REQUEST'))
    const elsewhere = await owner.folder('elsewhere')
    expect(await ask({ folder: elsewhere })).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    for (const left of [{}, { folder: null, expires_at: null }, { folder: 'root' }]) {
      expect((await ask(left)).body).toMatchObject({
        data: { scopes: ['read'], folder, expires_at: timestamp(end) },
      })
    }
    expect((await ask({ folder: below })).body).toMatchObject({ data: { folder: below } })
  })

  test('sees and revokes those that can do no more, and no others', async () => {
    const folder = await owner.folder('here')
    const below = await owner.folder('below', { parent: folder })
    const mine = { scopes: ['read', 'manage'], folder }
    const { id, as } = await make(mine)
    const covered = [id, (await make({ folder })).id, (await make({ folder: below })).id]
    const more = [
      (await make()).id,
      (await make({ scopes: ['upload'], folder })).id,
      (await make({ folder: await owner.folder('elsewhere') })).id,
    ]
    expect((await keysOf(as)).map((key) => key.id)).toEqual(covered)
    for (const other of more) expect(await revoke(as, other)).toMatchObject(refusal('NOT_FOUND'))
    expect((await keysOf(owner)).map((key) => key.id)).toEqual(expect.arrayContaining([...covered, ...more]))
    for (const own of covered.reverse()) expect(await revoke(as, own)).toMatchObject({ status: 200 })
    expect(await as.get('/api/v1/keys')).toMatchObject(refusal('INVALID_API_KEY'))
  })

  test('outlives nobody: one with an end sees none without', async () => {
    const end = timestamp(holdfast.clock.now() + HOUR)
    const { id, as } = await make({ scopes: ['read', 'upload', 'manage'], expires_at: end })
    expect((await keysOf(as)).map((key) => key.id)).toEqual([id])
  })
})
