/**
 * What a key without the scope `read` learns, and what it can open to others: nothing. Every route that takes such a
 * key has a row here.
 */
// Only in test:all: a row for each route; key-scopes.test.ts has the scopes.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Scope } from '../../../src/domain/access.ts'
import { routes } from '../../../src/server/routes.ts'
import { type Api, api, refusal } from '../../support/clients/api.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

/** New belongings for each case. The file and the private folder hold each other; the names are found nowhere else. */
interface Things {
  readonly slug: string
  readonly uuid: string
  readonly id: number
  readonly sha256: string
  /** The private folder with the file. */
  readonly hidden: string
  /** A public folder with a password, with `lockedFile` in it. */
  readonly locked: string
  readonly lockedFile: string
  /** A private folder, the target of a living link. */
  readonly shared: string
  /** A private folder, empty. */
  readonly other: string
  /** A folder in `hidden`. */
  readonly sub: string
  /** A link with password, end and number of downloads, to the file. */
  readonly link: string
  /** The entry of the bin of a file that was in `hidden`. */
  readonly entry: number
  readonly webhook: number
  readonly receipt: string
  /** The slug of an upload under way, and its address. */
  readonly arriving: string
  readonly arrivingPath: string
}

interface Ask {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

interface Row {
  /** A request that does its work without letting anybody see more; null for a route that only widens. */
  readonly plain: ((things: Things) => Ask) | null
  /** The requests that let more people see something. `item`: fails as one of a batch. */
  readonly widens?: Readonly<Record<string, (things: Things) => Ask>>
  readonly isBatch?: boolean
}

const post = (path: string, body: unknown): Ask => ({ method: 'POST', path, body })
const patch = (path: string, body: unknown): Ask => ({ method: 'PATCH', path, body })
const upload = (path: string, method: string): Row => ({
  plain: () => ({ method, path, body: 'text', headers: { 'content-type': 'text/plain' } }),
})
const form = (path: string): Row => ({
  plain: () => ({
    method: 'POST',
    path,
    headers: { 'content-type': 'multipart/form-data; boundary=X' },
    body: '--X\r\nContent-Disposition: form-data; name="file"; filename="new.bin"\r\n\r\ntext\r\n--X--\r\n',
  }),
})
const COVER = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const TUS = { 'tus-resumable': '1.0.0' }

/** Moves of one thing: `name` builds the request for it and a place. */
function moves(
  file: (things: Things) => string,
  lockedOne: (things: Things) => string,
  name: (thing: string, place: string) => Ask,
) {
  return {
    plain: (it: Things) => name(file(it), it.other),
    widens: {
      'to the top level': (it: Things) => name(file(it), 'root'),
      'below the target of a living link': (it: Things) => name(file(it), it.shared),
      'out of a password': (it: Things) => name(lockedOne(it), it.other),
    },
  }
}

const fileMoves = (name: (thing: string, place: string) => Ask) =>
  moves(
    (it) => it.slug,
    (it) => it.lockedFile,
    name,
  )
const folderMoves = (name: (thing: string, place: string) => Ask) =>
  moves(
    (it) => it.sub,
    (it) => lockedSubs.get(it.locked) ?? '',
    name,
  )
/** The folder in each folder with a password. */
const lockedSubs = new Map<string, string>()

const LATER = '2099-01-01T00:00:00.000Z'
const SOONER = '2037-01-01T00:00:00.000Z'

const ROWS: Readonly<Record<string, Row>> = {
  'post /api/v1/upload': form('/api/v1/upload'),
  'put /api/v1/upload/{name}': upload('/api/v1/upload/new.txt', 'PUT'),
  'put /{name}': upload('/new.txt', 'PUT'),
  'put /': upload('/', 'PUT'),
  'post /': form('/'),
  'get /api/v1/upload/status': { plain: ({ slug }) => ({ path: `/api/v1/upload/status?slug=${slug}` }) },
  'post /api/v1/receipt/{receipt}/claim': {
    plain: ({ receipt, other }) => post(`/api/v1/receipt/${receipt}/claim`, { folder: other }),
  },
  'post /api/v1/uploads': {
    plain: () => ({ method: 'POST', path: '/api/v1/uploads', headers: { ...TUS, 'upload-length': '5' } }),
  },
  'patch /api/v1/uploads/{upload}': {
    plain: ({ arrivingPath }) => ({
      method: 'PATCH',
      path: arrivingPath,
      headers: { ...TUS, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
      body: 'abc',
    }),
  },
  'get /api/v1/uploads/{upload}': {
    plain: ({ arrivingPath }) => ({ method: 'HEAD', path: arrivingPath, headers: TUS }),
  },
  'post /api/v1/uploads/{upload}': {
    plain: ({ arrivingPath }) => ({
      method: 'POST',
      path: arrivingPath,
      headers: {
        ...TUS,
        'x-http-method-override': 'PATCH',
        'upload-offset': '0',
        'content-type': 'application/offset+octet-stream',
      },
      body: 'abc',
    }),
  },
  'delete /api/v1/uploads/{upload}': {
    plain: ({ arrivingPath }) => ({ method: 'DELETE', path: arrivingPath, headers: TUS }),
  },
  'post /api/v1/folder': { plain: () => post('/api/v1/folder', { name: `new ${crypto.randomUUID()}` }) },

  'patch /api/v1/file/{id}': {
    ...fileMoves((file, folder) => patch(`/api/v1/file/${file}`, { folder })),
    plain: ({ id, other }) => patch(`/api/v1/file/${id}`, { name: 'renamed.txt', folder: other }),
  },
  'post /api/v1/file/move': fileMoves((file, folder) => post('/api/v1/file/move', { file, folder })),
  'post /api/v1/files/move': {
    ...fileMoves((file, folder) => post('/api/v1/files/move', { files: [file], folder })),
    isBatch: true,
  },
  'post /file/delete': { plain: ({ id }) => post('/file/delete', { identifiers: [id] }) },
  'post /api/v1/file/delete': { plain: ({ id }) => post('/api/v1/file/delete', { identifiers: [id] }) },
  'patch /api/v1/folder/{identifier}': {
    plain: ({ hidden }) => patch(`/api/v1/folder/${hidden}`, { public: 0, password: 'new', name: hidden }),
    widens: {
      ...folderMoves((folder, parent) => patch(`/api/v1/folder/${folder}`, { parent })).widens,
      'to public': ({ hidden }) => patch(`/api/v1/folder/${hidden}`, { public: 1 }),
      'without its password': ({ locked }) => patch(`/api/v1/folder/${locked}`, { password: null }),
      'with a password that the caller knows': ({ locked }) =>
        patch(`/api/v1/folder/${locked}`, { password: 'known' }),
    },
  },
  'post /api/v1/folder/thumbnail': {
    plain: ({ hidden }) => ({
      method: 'POST',
      path: '/api/v1/folder/thumbnail',
      headers: { 'content-type': 'multipart/form-data; boundary=X' },
      body: Buffer.concat([
        Buffer.from(
          `--X\r\nContent-Disposition: form-data; name="folder"\r\n\r\n${hidden}\r\n--X\r\nContent-Disposition: form-data; name="thumbnail"; filename="cover.png"\r\nContent-Type: image/png\r\n\r\n`,
        ),
        COVER,
        Buffer.from('\r\n--X--\r\n'),
      ]),
    }),
  },
  'post /api/v1/folder/move': folderMoves((folder, parent) =>
    post('/api/v1/folder/move', { folder, parent }),
  ),
  'post /api/v1/folders/move': {
    ...folderMoves((folder, parent) => post('/api/v1/folders/move', { folders: [folder], parent })),
    isBatch: true,
  },
  'post /folder/delete': { plain: ({ hidden }) => post('/folder/delete', { identifiers: [hidden] }) },
  'post /api/v1/folder/delete': {
    plain: ({ hidden }) => post('/api/v1/folder/delete', { identifiers: [hidden] }),
  },
  'post /api/v1/bin': { plain: ({ id, sub }) => post('/api/v1/bin', { files: [id], folders: [sub] }) },
  'post /api/v1/bin/restore': {
    plain: ({ entry }) => post('/api/v1/bin/restore', { entries: [entry] }),
    widens: {
      'to the top level': ({ entry }) => post('/api/v1/bin/restore', { entries: [entry], folder: 'root' }),
      'below the target of a living link': ({ entry, shared }) =>
        post('/api/v1/bin/restore', { entries: [entry], folder: shared }),
    },
    isBatch: true,
  },
  'post /api/v1/bin/delete': { plain: ({ entry }) => post('/api/v1/bin/delete', { entries: [entry] }) },
  'delete /api/v1/bin': { plain: () => ({ method: 'DELETE', path: '/api/v1/bin' }) },
  'post /api/v1/upload/cancel': {
    plain: ({ arriving }) => post('/api/v1/upload/cancel', { slug: arriving }),
  },

  // It begins empty: nothing that is there is seen by more people.
  'post /api/v1/transfers': { plain: () => post('/api/v1/transfers', { name: 'New' }) },
  'post /api/v1/links': {
    plain: null,
    widens: {
      'to a file': ({ id }) => post('/api/v1/links', { files: [id] }),
      'to a folder': ({ hidden }) => post('/api/v1/links', { folders: [hidden] }),
    },
  },
  'patch /api/v1/links/{link}': {
    plain: ({ link }) => patch(`/api/v1/links/${link}`, { max_downloads: 1, ends_at: SOONER }),
    widens: {
      'with a later end': ({ link }) => patch(`/api/v1/links/${link}`, { ends_at: LATER }),
      'without an end': ({ link }) => patch(`/api/v1/links/${link}`, { ends_at: null }),
      'with more downloads': ({ link }) => patch(`/api/v1/links/${link}`, { max_downloads: 4 }),
      'with any number of downloads': ({ link }) => patch(`/api/v1/links/${link}`, { max_downloads: null }),
      'without its password': ({ link }) => patch(`/api/v1/links/${link}`, { password: null }),
      'with a password that the caller knows': ({ link }) =>
        patch(`/api/v1/links/${link}`, { password: 'known' }),
    },
  },
  'delete /api/v1/links/{link}': {
    plain: ({ link }) => ({ method: 'DELETE', path: `/api/v1/links/${link}` }),
  },

  'get /api/v1/webhooks': { plain: () => ({ path: '/api/v1/webhooks' }) },
  'post /api/v1/webhooks': {
    plain: null,
    widens: { 'that is told of links': () => post('/api/v1/webhooks', { url: 'https://example.com/told' }) },
  },
  'get /api/v1/webhooks/{id}': { plain: ({ webhook }) => ({ path: `/api/v1/webhooks/${webhook}` }) },
  'patch /api/v1/webhooks/{id}': {
    plain: null,
    widens: {
      'to another address': ({ webhook }) =>
        patch(`/api/v1/webhooks/${webhook}`, { url: 'https://example.com/other' }),
    },
  },
  'delete /api/v1/webhooks/{id}': {
    plain: ({ webhook }) => ({ method: 'DELETE', path: `/api/v1/webhooks/${webhook}` }),
  },
  'post /api/v1/webhooks/{id}/test': {
    plain: ({ webhook }) => ({ method: 'POST', path: `/api/v1/webhooks/${webhook}/test` }),
  },
  'get /api/v1/webhooks/{id}/deliveries': {
    plain: ({ webhook }) => ({ path: `/api/v1/webhooks/${webhook}/deliveries` }),
  },
  // Sends once more what was sent, to the address that a key with `read` has chosen.
  'post /api/v1/webhooks/{id}/deliveries/{delivery}/replay': { plain: null },

  'get /api/v1/account': { plain: () => ({ path: '/api/v1/account' }) },
  'get /api/v1/keys': { plain: () => ({ path: '/api/v1/keys' }) },
  'post /api/v1/key': {
    plain: ({ hidden }) => post('/api/v1/key', { name: 'more', scopes: ['manage'], folder: hidden }),
    widens: { 'that may read': () => post('/api/v1/key', { name: 'more', scopes: ['read'] }) },
  },
  'delete /api/v1/key/{id}': { plain: null },
}

const taking = routes.filter(({ need }) => need !== undefined && need !== 'read')
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

let host: TestHoldfast
let owner: Api
let username: string
const keys = new Map<string, Api>()

beforeAll(async () => {
  host = await startHoldfast({ rateLimit: 1_000_000, publicUrl: 'https://files.test' })
  const account = await host.addAccount()
  username = account.username
  owner = api(host, account.apiKey)
})
afterAll(() => host.stop())

async function keyWith(...scopes: Scope[]): Promise<Api> {
  const name = scopes.join(' ')
  const made = keys.get(name) ?? api(host, await host.addKey(username, { scopes }))
  keys.set(name, made)
  return made
}

const unique = () => crypto.randomUUID().slice(0, 13)
const field = (body: unknown, name: string): unknown => (body as { data: Record<string, unknown> }).data[name]

async function newThings(): Promise<Things> {
  const hidden = await owner.folder(`secret folder ${unique()}`, { public: 0 })
  const sub = await owner.folder(`secret folder ${unique()}`, { parent: hidden })
  const locked = await owner.folder(`secret folder ${unique()}`, { password: 'pass' })
  lockedSubs.set(locked, await owner.folder(`secret folder ${unique()}`, { parent: locked }))
  const other = await owner.folder(`secret folder ${unique()}`, { public: 0 })
  const shared = await owner.folder(`secret folder ${unique()}`, { public: 0 })
  await owner.post('/api/v1/links', { folders: [shared] })
  const put = (folder: string) =>
    owner.put(`${unique()}${'x'.repeat(23_457 - 13)}`, { folder, name: `secret file ${unique()}.txt` })
  const [file, lockedFile, binned] = [await put(hidden), await put(locked), await put(hidden)]
  const terms = { password: 'pass', max_downloads: 3, ends_at: '2050-01-01T00:00:00Z' }
  const link = await owner.post('/api/v1/links', { files: [file.slug], ...terms })
  const bin = await owner.post('/api/v1/bin', { files: [binned.slug] })
  const [{ entry } = { entry: 0 }] = field(bin.body, 'results') as { entry: number }[]
  const hooks = (await owner.get('/api/v1/webhooks')).body as { data: { id: number }[] }
  for (const { id } of hooks.data) await owner.send(`/api/v1/webhooks/${id}`, { method: 'DELETE' })
  const webhook = await owner.post('/api/v1/webhooks', { url: 'https://example.com/hook' })
  const guest = await api(host).upload('a guest’s', { name: 'guests.txt' })
  const headers = { ...TUS, 'upload-length': '5', 'upload-metadata': `folder ${btoa(hidden)}` }
  const arriving = await owner.send('/api/v1/uploads', { method: 'POST', headers })
  return {
    slug: file.slug,
    uuid: file.uuid,
    id: file.file_id,
    sha256: file.sha256,
    hidden,
    sub,
    locked,
    lockedFile: lockedFile.slug,
    shared,
    other,
    link: String(field(link.body, 'slug')),
    entry,
    webhook: webhook.status === 201 ? Number(field(webhook.body, 'id')) : 0,
    receipt: (guest.body as { receipt: string }).receipt,
    arriving: (arriving.body as { slug: string }).slug,
    arrivingPath: arriving.headers.get('location') ?? '',
  }
}

function send(caller: Api, { method = 'GET', path, body, headers = {} }: Ask) {
  const isBytes = typeof body === 'string' || body instanceof Uint8Array
  const isJson = body !== undefined && !isBytes
  return caller.send(path, {
    method,
    headers: { ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(body === undefined ? {} : { body: isBytes ? body : JSON.stringify(body) }),
  })
}

/** What opens or describes something, and was not in the request. */
function told(things: Things, ask: Ask, answer: { headers: Headers; body: unknown }): string[] {
  const { path, body = '' } = ask
  const asked = path + (body instanceof Uint8Array ? new TextDecoder().decode(body) : JSON.stringify(body))
  const text = JSON.stringify([...answer.headers]) + JSON.stringify(answer.body)
  const { slug, uuid, sha256, hidden, locked, lockedFile, shared, other, sub, link } = things
  const openers = { slug, uuid, sha256, hidden, locked, lockedFile, shared, other, sub, link }
  const found = Object.entries(openers).filter(([, value]) => text.includes(value) && !asked.includes(value))
  return [
    ...found.map(([name]) => name),
    ...(text.includes('secret f') ? ['a name'] : []),
    ...(/\b23457\b/.test(text) ? ['a size'] : []),
  ]
}

test('every route that takes a key without the scope to read says what it tells and whom it lets see', () => {
  expect(taking.map(nameOf).sort()).toEqual(Object.keys(ROWS).sort())
})

/** By contract: of a file whose slug the caller knows, and how much the emptied bin held. */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  'get /api/v1/upload/status': ['uuid', 'a size'],
  'delete /api/v1/bin': ['a size'],
}

describe('a key without the scope to read', () => {
  test.each(taking.map((route) => [nameOf(route), route.need] as const))(
    'learns nothing by %s',
    async (name, need) => {
      const plain = ROWS[name]?.plain ?? null
      if (plain === null || (name.includes('webhooks/{id}') && (await newThings()).webhook === 0)) return
      for (const scopes of need === 'any' ? [['manage'], ['upload']] : [[need], ['upload', 'manage']]) {
        const things = await newThings()
        const ask = plain(things)
        const answer = await send(await keyWith(...(scopes as Scope[])), ask)
        expect([name, answer.status < 400, answer.body]).toEqual([name, true, answer.body])
        const allowed = TOLD[name] ?? []
        expect(told(things, ask, answer).filter((each) => !allowed.includes(each))).toEqual([])
      }
    },
  )

  const widening = Object.entries(ROWS).flatMap(([name, { widens = {}, isBatch = false }]) =>
    Object.entries(widens).map(([what, ask]) => ({ name, what, ask, isBatch })),
  )

  test.each(widening)('lets nobody see more by $name $what', async ({ name, ask, isBatch }) => {
    const things = await newThings()
    if (name.includes('webhooks/{id}') && things.webhook === 0) return
    const manager = await keyWith('upload', 'manage')
    const answer = await send(manager, ask(things))
    if (isBatch) {
      const results = field(answer.body, 'results')
      expect([answer.status, results]).toMatchObject([200, [{ success: false, error: 'SCOPE_MISSING' }]])
    } else expect(answer).toMatchObject(refusal('SCOPE_MISSING'))
    expect(told(things, ask(things), answer)).toEqual([])
    if (name === 'post /api/v1/key') return
    const both = await send(await keyWith('read', 'manage'), ask(things))
    expect([both.status < 300, (both.body as { success?: boolean }).success, both.body]).toEqual([
      true,
      true,
      both.body,
    ])
  })

  test('bound to a folder lets nobody see more of what is in it', async () => {
    const top = await owner.folder(`secret folder ${unique()}`, { password: 'pass' })
    const within = await owner.folder(`secret folder ${unique()}`, { parent: top, public: 0 })
    const open = await owner.folder(`secret folder ${unique()}`, { parent: within })
    const closed = await owner.folder(`secret folder ${unique()}`, { parent: within, public: 0 })
    const { slug } = await owner.put('bytes', { folder: closed })
    await owner.patch(`/api/v1/folder/${within}`, { public: 1 })
    const bound = api(host, await host.addKey(username, { scopes: ['manage'], folder: within as never }))
    for (const place of [open, 'root']) {
      expect(await bound.post('/api/v1/file/move', { file: slug, folder: place })).toMatchObject(
        refusal('SCOPE_MISSING'),
      )
    }
    expect(await bound.patch(`/api/v1/folder/${closed}`, { public: true })).toMatchObject(
      refusal('SCOPE_MISSING'),
    )
    expect(await bound.post('/api/v1/links', { files: [slug] })).toMatchObject(refusal('SCOPE_MISSING'))
    const { body } = await bound.get('/api/v1/keys')
    expect(JSON.stringify(body)).not.toContain('secret f')
  })

  test('is told of no folder that another key is good for', async () => {
    const folder = await owner.folder(`secret folder ${unique()}`)
    await host.addKey(username, { scopes: ['manage'], folder: folder as never })
    const { body } = await (await keyWith('manage')).get('/api/v1/keys')
    expect(JSON.stringify(body)).not.toContain(folder)
  })

  test('moves below the target of a link from one place to another', async () => {
    const shared = await owner.folder(unique(), { public: 0 })
    const [first, second] = [
      await owner.folder('a', { parent: shared }),
      await owner.folder('b', { parent: shared }),
    ]
    await owner.post('/api/v1/links', { folders: [shared] })
    const { slug } = await owner.put('bytes', { folder: first })
    const manager = await keyWith('manage')
    expect((await manager.post('/api/v1/file/move', { file: slug, folder: second })).status).toBe(200)
  })

  test('moves below what a link has opened once it is revoked', async () => {
    const shared = await owner.folder(unique(), { public: 0 })
    const { body } = await owner.post('/api/v1/links', { folders: [shared], ends_at: '2050-01-01T00:00:00Z' })
    const away = await owner.folder(unique(), { public: 0 })
    const { slug } = await owner.put('bytes', { folder: away })
    const manager = await keyWith('manage')
    expect(await manager.post('/api/v1/file/move', { file: slug, folder: shared })).toMatchObject(
      refusal('SCOPE_MISSING'),
    )
    await owner.send(`/api/v1/links/${field(body, 'slug')}`, { method: 'DELETE' })
    expect((await manager.post('/api/v1/file/move', { file: slug, folder: shared })).status).toBe(200)
  })
})
