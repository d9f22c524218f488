// Only in test:all: generated: every route; bound-keys.test.ts has some.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { MINUTE } from '../../../src/domain/clock.ts'
import type { FolderIdentifier } from '../../../src/domain/ids.ts'
import { isSafe } from '../../../src/server/requests/browser.ts'
import { routes } from '../../../src/server/routes.ts'
import { sampleOf } from '../../support/cases.ts'
import { makeLink } from '../../support/clients/links.ts'
import {
  api,
  bearer,
  GENEROUS,
  type Headers,
  makeFolder,
  type Uploaded,
  upload,
  visit,
} from '../../support/clients/public.ts'
import { PASSWORD, sessionHeaders, signedIn } from '../../support/clients/site-visitor.ts'
import { metadata, TUS, UPLOADS } from '../../support/clients/tus.ts'
import { PNG } from '../../support/contents/picture.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

/** What a request may name: things of one account, or things that nobody has. */
interface Things {
  readonly slug: string
  readonly uuid: string
  readonly id: number
  readonly folder: string
  readonly parent: string
  /** The number of an API key. */
  readonly key: number
  /** The slug of an upload of which no byte has come. */
  readonly arriving: string
  /** The number of an entry of the bin. */
  readonly entry: number
  /** The slug of a made link. */
  readonly link: string
  /** The number of a webhook, and of something that was sent to it; 0 where there can be none. */
  readonly webhook: number
  readonly delivery: number
}

const NOBODYS: Things = {
  slug: 'Zz0000000000',
  uuid: '00000000-0000-4000-8000-000000000000',
  id: 999_999_999,
  folder: 'z000000000000000',
  parent: 'z000000000000001',
  key: 999_999_998,
  arriving: 'Zz0000000001',
  entry: 999_999_997,
  link: 'zzzzzzzzzzzzzzzz',
  webhook: 999_999_996,
  delivery: 999_999_995,
}

interface Request {
  readonly path: string
  readonly body?: unknown
  /** Sends a file with this `X-Folder-ID` instead of JSON. */
  readonly uploadInto?: string
  /** Sends a picture for this folder in a form. */
  readonly coverOf?: string
}

type FileId = string | number
type Build = (things: Things, file: FileId, own: Things) => Request

/**
 * How each keyed route is asked for. `own` is what the caller has; the other things are what the request is about,
 * and may be somebody else's. Routes that name nothing have no `about`.
 */
interface Row {
  readonly ask: Build
  /** The ways in which a request of this route can name what is not the caller's. */
  readonly about: Readonly<Record<string, Build>>
  /** The file is named by slug alone. */
  readonly slugOnly?: boolean
  /** A session counts for nothing, whoever's it is. */
  readonly keyOnly?: boolean
  /** A session needs a sign-in that is not long ago. */
  readonly proved?: true
}

function named(ask: Build, more: Readonly<Record<string, Build>> = {}): Row {
  return { ask, about: { itself: ask, ...more } }
}

const deleteFiles = (path: string): Row =>
  named((_, file) => ({ path, body: { identifiers: [file] } }), {
    'beside one that nobody has': (_, file) => ({
      path,
      body: { identifiers: [file, 'Yy0000000000'] },
    }),
  })

const deleteFolders = (path: string): Row =>
  named(({ folder }) => ({ path, body: { identifiers: [folder] } }), {
    'several at once': ({ folder, parent }) => ({ path, body: { identifiers: [folder, parent] } }),
  })

const uploadRow: Row = named(({ folder }) => ({ path: '/api/v1/upload', uploadInto: folder }))

const matrix: Readonly<Record<string, Row>> = {
  'post /api/v1/upload': uploadRow,
  'put /api/v1/upload/{}': {
    ...named(({ folder }) => ({ path: '/api/v1/upload/a.txt', uploadInto: folder })),
    keyOnly: true,
  },
  'put /{}': { ...named(({ folder }) => ({ path: '/a.txt', uploadInto: folder })), keyOnly: true },
  'put /': { ...named(({ folder }) => ({ path: '/', uploadInto: folder })), keyOnly: true },
  'get /api/v1/upload/status': {
    ...named((_, file) => ({ path: `/api/v1/upload/status?slug=${file}` })),
    slugOnly: true,
  },
  'get /api/v1/uploads': { ask: () => ({ path: '/api/v1/uploads' }), about: {} },
  'get /api/v1/files': named(({ folder }) => ({ path: `/api/v1/files?folder=${folder}` })),
  'get /api/v1/file/{}': named((_, file) => ({ path: `/api/v1/file/${file}` })),
  'patch /api/v1/file/{}': named((_, file) => ({
    path: `/api/v1/file/${file}`,
    body: { name: 'taken.txt' },
  })),
  'post /api/v1/file/move': named(
    (_, file, own) => ({ path: '/api/v1/file/move', body: { file, folder: own.folder } }),
    {
      destination: ({ folder }, _, own) => ({ path: '/api/v1/file/move', body: { file: own.slug, folder } }),
    },
  ),
  'post /api/v1/files/move': named(
    (_, file, own) => ({ path: '/api/v1/files/move', body: { files: [file], folder: own.folder } }),
    {
      destination: ({ folder }, _, own) => ({
        path: '/api/v1/files/move',
        body: { files: [own.slug], folder },
      }),
    },
  ),
  'post /api/v1/files/download': named(
    (_, file) => ({ path: '/api/v1/files/download', body: { files: [file] } }),
    {
      'beside one of the caller’s own': (_, file, own) => ({
        path: '/api/v1/files/download',
        body: { files: [own.slug, file] },
      }),
    },
  ),
  'post /file/delete': deleteFiles('/file/delete'),
  'post /api/v1/file/delete': deleteFiles('/api/v1/file/delete'),
  'get /api/v1/folders': named(({ folder }) => ({ path: `/api/v1/folders?parent=${folder}` })),
  'post /api/v1/folder': named(
    ({ folder }) => ({ path: '/api/v1/folder', body: { name: 'x', parent: folder } }),
    {
      'by its other name': ({ folder }) => ({
        path: '/api/v1/folder',
        body: { name: 'x', parent_id: folder },
      }),
    },
  ),
  'patch /api/v1/folder/{}': named(({ folder }) => ({
    path: `/api/v1/folder/${folder}`,
    body: { name: 'taken', public: 0, password: 'taken' },
  })),
  'get /api/v1/folder/{}/files': named(({ folder }) => ({ path: `/api/v1/folder/${folder}/files` }), {
    'page by page': ({ folder }) => ({ path: `/api/v1/folder/${folder}/files?page=1` }),
  }),
  'get /api/v1/folder/{}/folders': named(({ folder }) => ({ path: `/api/v1/folder/${folder}/folders` })),
  'get /api/v1/folder/{}/download': named(({ folder }) => ({ path: `/api/v1/folder/${folder}/download` })),
  'post /api/v1/folder/thumbnail': named(({ folder }) => ({
    path: '/api/v1/folder/thumbnail',
    coverOf: folder,
  })),
  'post /api/v1/folder/move': named(
    ({ folder }, _, own) => ({ path: '/api/v1/folder/move', body: { folder, parent: own.parent } }),
    {
      destination: ({ folder }, _, own) => ({
        path: '/api/v1/folder/move',
        body: { folder: own.folder, parent: folder },
      }),
    },
  ),
  'post /api/v1/folders/move': named(
    ({ folder }, _, own) => ({
      path: '/api/v1/folders/move',
      body: { folders: [folder], parent: own.parent },
    }),
    {
      destination: ({ folder }, _, own) => ({
        path: '/api/v1/folders/move',
        body: { folders: [own.folder], parent: folder },
      }),
    },
  ),
  'post /folder/delete': deleteFolders('/folder/delete'),
  'post /api/v1/folder/delete': deleteFolders('/api/v1/folder/delete'),
  'get /api/v1/folder/{}': named(({ folder }) => ({ path: `/api/v1/folder/${folder}` })),
  'post /api/v1/upload/cancel': {
    ...named(({ arriving }) => ({ path: '/api/v1/upload/cancel', body: { slug: arriving } })),
    slugOnly: true,
  },
  'post /api/v1/receipt/{}/claim': named(({ folder }) => ({
    path: `/api/v1/receipt/${guestsReceipt}/claim`,
    body: { folder },
  })),
  'post /api/v1/bin': named((_, file) => ({ path: '/api/v1/bin', body: { files: [file] } }), {
    folders: ({ folder, parent }) => ({ path: '/api/v1/bin', body: { folders: [folder, parent] } }),
  }),
  'get /api/v1/bin': { ask: () => ({ path: '/api/v1/bin' }), about: {} },
  'post /api/v1/bin/restore': named(
    ({ entry }, _, own) => ({ path: '/api/v1/bin/restore', body: { entries: [entry], folder: own.folder } }),
    {
      destination: ({ folder }, _, own) => ({
        path: '/api/v1/bin/restore',
        body: { entries: [own.entry], folder },
      }),
    },
  ),
  'post /api/v1/bin/delete': named(({ entry }) => ({
    path: '/api/v1/bin/delete',
    body: { entries: [entry] },
  })),
  'delete /api/v1/bin': { ask: () => ({ path: '/api/v1/bin' }), about: {} },
  'post /api/v1/links': named((_, file) => ({ path: '/api/v1/links', body: { files: [file] } }), {
    'beside one of the caller’s own': (_, file, own) => ({
      path: '/api/v1/links',
      body: { files: [own.slug, file] },
    }),
    folder: ({ folder }) => ({ path: '/api/v1/links', body: { folders: [folder] } }),
  }),
  'get /api/v1/links': named((_, file) => ({ path: `/api/v1/links?file=${file}` }), {
    folder: ({ folder }) => ({ path: `/api/v1/links?folder=${folder}` }),
  }),
  'get /api/v1/links/{}': named(({ link }) => ({ path: `/api/v1/links/${link}` })),
  'get /api/v1/links/{}/contributions': named(({ link }) => ({
    path: `/api/v1/links/${link}/contributions`,
  })),
  'get /api/v1/links/{}/log': named(({ link }) => ({ path: `/api/v1/links/${link}/log` })),
  'patch /api/v1/links/{}': named(({ link }) => ({ path: `/api/v1/links/${link}`, body: { name: 'taken' } })),
  'delete /api/v1/links/{}': named(({ link }) => ({ path: `/api/v1/links/${link}` })),
  'get /api/v1/events': { ask: () => ({ path: '/api/v1/events' }), about: {} },
  'get /api/v1/account': { ask: () => ({ path: '/api/v1/account' }), about: {} },
  'get /api/v1/account/storage': { ask: () => ({ path: '/api/v1/account/storage' }), about: {} },
  'get /api/v1/account/requests': { ask: () => ({ path: '/api/v1/account/requests' }), about: {} },
  'get /api/v1/webhooks': { ask: () => ({ path: '/api/v1/webhooks' }), about: {} },
  'post /api/v1/webhooks': {
    ask: () => ({ path: '/api/v1/webhooks', body: { url: 'http://localhost:65535/' } }),
    about: {},
    proved: true,
  },
  'get /api/v1/webhooks/{}': named(({ webhook }) => ({ path: `/api/v1/webhooks/${webhook}` })),
  'patch /api/v1/webhooks/{}': named(({ webhook }) => ({
    path: `/api/v1/webhooks/${webhook}`,
    body: { enabled: false },
  })),
  'delete /api/v1/webhooks/{}': named(({ webhook }) => ({ path: `/api/v1/webhooks/${webhook}` })),
  'post /api/v1/webhooks/{}/test': named(({ webhook }) => ({ path: `/api/v1/webhooks/${webhook}/test` })),
  'get /api/v1/webhooks/{}/deliveries': named(({ webhook }) => ({
    path: `/api/v1/webhooks/${webhook}/deliveries`,
  })),
  'post /api/v1/webhooks/{}/deliveries/{}/replay': named(({ webhook, delivery }) => ({
    path: `/api/v1/webhooks/${webhook}/deliveries/${delivery}/replay`,
  })),
  'get /api/v1/keys': { ask: () => ({ path: '/api/v1/keys' }), about: {} },
  'post /api/v1/key': {
    ...named(({ folder }) => ({ path: '/api/v1/key', body: { name: 'x', scopes: ['read'], folder } })),
    proved: true,
  },
  'delete /api/v1/key/{}': named(({ key }) => ({ path: `/api/v1/key/${key}` })),
}

const keyed = routes.filter(({ auth }) => auth === 'key').map(nameOf)
const rows = Object.entries(matrix).map(([route, row]) => ({ route, row }))

function nameOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`
}

const failure = z.object({ success: z.literal(false), message: z.string().min(1), error: z.string() })

let host: TestHoldfast
let ownerKey: string
let owners: Things
let strangerKey: string
/** Of what a guest has uploaded: everybody here has it. */
let guestsReceipt: string
let ownersFile: Uploaded
/** A key of the owner's that is good for one folder, which has nothing of what `owners` names. */
let boundKey: string
/** What browsers send where these are signed in. */
let sessions: Readonly<
  Record<
    | 'owner'
    | 'stranger'
    | 'ended'
    | 'disabled'
    | 'administrator'
    | 'formerAdministrator'
    | 'disabledAdministrator',
    Headers
  >
>
let administratorKey: string

async function belongings(key: string): Promise<Things & { file: Uploaded }> {
  const parent = await makeFolder(host, key)
  const folder = await makeFolder(host, key)
  const file = await upload(host, { key, folder, name: 'mine.txt' })
  return {
    slug: file.slug,
    uuid: file.uuid,
    id: file.file_id,
    folder,
    parent,
    key: await keyNumber(key),
    arriving: await beginUpload(key, folder),
    entry: await binEntry(key, folder),
    link: await makeLink(host, key, { files: [file.slug], folders: [folder] }),
    ...(await webhookOf(key)),
    file,
  }
}

async function beginUpload(key: string, folder: string): Promise<string> {
  const about = metadata({ filename: 'arriving.txt', folder })
  const headers = { ...bearer(key), ...TUS, 'upload-length': '5', 'upload-metadata': about }
  const answer = await visit(host, UPLOADS, { method: 'POST', headers })
  return z.object({ slug: z.string() }).parse(await answer.json()).slug
}

/** Nothing is sent to it: this server asks nobody in private networks. */
async function webhookOf(key: string): Promise<Pick<Things, 'webhook' | 'delivery'>> {
  const made = z.object({ data: z.object({ id: z.number() }) })
  const path = '/api/v1/webhooks'
  const { status, body } = await api(host, key, 'POST', path, { url: 'http://localhost:65535/' })
  if (status !== 201) return { webhook: 0, delivery: 0 }
  const webhook = made.parse(body).data.id
  const { id } = made.parse((await api(host, key, 'POST', `${path}/${webhook}/test`)).body).data
  return { webhook, delivery: id }
}

async function binEntry(key: string, folder: string): Promise<number> {
  const { slug } = await upload(host, { key, folder, name: 'in the bin.txt' })
  const answer = await api(host, key, 'POST', '/api/v1/bin', { files: [slug] })
  const schema = z.object({ data: z.object({ results: z.tuple([z.object({ entry: z.number() })]) }) })
  return schema.parse(answer.body).data.results[0].entry
}

/** The number of the newest key that the key can see. */
async function keyNumber(key: string): Promise<number> {
  const schema = z.object({ data: z.array(z.object({ id: z.number() })) })
  return schema.parse((await api(host, key, 'GET', '/api/v1/keys')).body).data.at(-1)?.id ?? 0
}

beforeAll(async () => {
  host = await startHoldfast(GENEROUS)
  ownerKey = (await host.addAccount('owner')).apiKey
  // So that the owner's file has a number that no count in an answer is mistaken for.
  for (let others = 0; others < 20; others += 1) await upload(host)
  const { file, ...things } = await belongings(ownerKey)
  const guests = await visit(host, '/guests.txt', { method: 'PUT', body: 'a guest’s' })
  guestsReceipt = guests.headers.get('holdfast-receipt') ?? ''
  owners = things
  ownersFile = file
  strangerKey = (await host.addAccount('stranger')).apiKey
  const folder = (await makeFolder(host, ownerKey)) as FolderIdentifier
  boundKey = await host.addKey('owner', { folder })
  await Promise.all(['ended', 'disabled'].map((username) => host.addAccount(username)))
  const session = async (username: string) => sessionHeaders(await signedIn(host, username))
  const [owner, stranger, ended, disabled] = [
    await session('owner'),
    await session('stranger'),
    await session('ended'),
    await session('disabled'),
  ]
  administratorKey = (await host.addAccount('root')).apiKey
  const [former, dismissed] = [await host.addAccount('former'), await host.addAccount('dismissed')]
  for (const username of ['root', 'former', 'dismissed']) await host.makeAdmin(username)
  const [administrator, formerAdministrator, disabledAdministrator] = [
    await session('root'),
    await session('former'),
    await session('dismissed'),
  ]
  const change = (id: number, body: object) =>
    send('patch', { path: `/api/v1/admin/account/${id}`, body }, administrator)
  await change(former.id, { is_admin: false })
  await change(dismissed.id, { disabled: true })
  sessions = {
    owner,
    stranger,
    ended,
    disabled,
    administrator,
    formerAdministrator,
    disabledAdministrator,
  }
  await visit(host, '/api/v1/session', { method: 'DELETE', headers: ended })
  await host.disableAccount('disabled')
}, 120_000)

afterAll(async () => {
  await host.stop()
})

/** Sends the request of the named route with these headers. */
function send(route: string, request: Request, headers: Headers): Promise<Response> {
  const method = (route.split(' ')[0] ?? '').toUpperCase()
  if (request.coverOf !== undefined) {
    const form = new FormData()
    form.set('folder', request.coverOf)
    form.set('thumbnail', new File([PNG], 'cover.png'))
    return visit(host, request.path, { method, headers, body: form })
  }
  if (request.uploadInto !== undefined) {
    const into = { ...headers, 'x-folder-id': request.uploadInto }
    if (method === 'PUT') return visit(host, request.path, { method, headers: into, body: 'x' })
    const form = new FormData()
    form.set('file', new File(['x'], 'x.txt'))
    return visit(host, request.path, {
      method,
      headers: into,
      body: form,
    })
  }
  if (request.body === undefined) return visit(host, request.path, { method, headers })
  const json = { ...headers, 'content-type': 'application/json' }
  return visit(host, request.path, { method, headers: json, body: JSON.stringify(request.body) })
}

/** Everything the owner's API shows of the account. */
async function snapshot(): Promise<string> {
  const paths = [
    `/api/v1/file/${ownersFile.slug}`,
    '/api/v1/files',
    '/api/v1/folders',
    `/api/v1/folder/${owners.folder}/files`,
    `/api/v1/folder/${owners.folder}/folders`,
    '/api/v1/bin',
    UPLOADS,
    `/api/v1/links/${owners.link}`,
    '/api/v1/webhooks',
  ]
  const answers: unknown[] = []
  for (const path of paths) answers.push((await api(host, ownerKey, 'GET', path)).body)
  return JSON.stringify(answers)
}

test('every keyed route of the server is in this matrix', () => {
  expect(keyed.filter((route) => matrix[route] === undefined)).toEqual([])
  const withKey = new Set(routes.filter(({ need }) => need !== undefined).map(nameOf))
  expect(Object.keys(matrix).filter((route) => !withKey.has(route))).toEqual([])
})

async function refused(response: Response): Promise<string> {
  const { error } = failure.parse(await response.json())
  return `${response.status} ${error}`
}

/** The same request by a page of another site, as browsers mark it over TLS and, in the second form, without. */
const fromElsewhere = (headers: Headers): readonly Headers[] => [
  { ...headers, 'sec-fetch-site': 'cross-site' },
  { ...headers, origin: 'https://elsewhere.example' },
]
const isReading = (route: string) => isSafe((route.split(' ')[0] ?? '').toUpperCase())

describe.each(rows)('$route', ({ route, row }) => {
  async function expectNoKey(headers: Headers): Promise<void> {
    const response = await send(route, row.ask(owners, owners.slug, owners), headers)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer(\s|$)/)
    expect(failure.parse(await response.json()).error).toBe('INVALID_API_KEY')
  }

  test('is 401 without a key', async () => {
    await expectNoKey({})
  })

  test('is 401 with a malformed key', async () => {
    const unnamed = ownerKey.slice(3)
    const malformed = [
      'Bearer',
      'Bearer ',
      'Bearer x',
      'Bearer hf_',
      'Bearer null',
      `Bearer ${unnamed}`,
      `Bearer ${ownerKey}x`,
      `Bearer ${ownerKey.slice(0, -1)}`,
      `Bearer ${ownerKey} ${ownerKey}`,
      `Bearer ${ownerKey.toUpperCase()}`,
      `Bearer,${ownerKey}`,
      `Token ${ownerKey}`,
      `Basic ${Buffer.from(`owner:${ownerKey}`).toString('base64')}`,
      ownerKey,
      `Bearer ${'a'.repeat(5000)}`,
    ]
    for (const authorization of malformed) await expectNoKey({ authorization })
  })

  test('is 401 with a key that nobody has', async () => {
    await expectNoKey(bearer(`hf_${[...ownerKey.slice(3)].reverse().join('')}`))
  })

  test('is 401 with a revoked key, while the account’s others work', async () => {
    const revoked = await host.addKey('owner')
    await host.revokeKey(revoked)
    await expectNoKey(bearer(revoked))
    expect((await api(host, ownerKey, 'GET', '/api/v1/account')).status).toBe(200)
  })

  test('is 401 with a key that has expired, up to then not', async () => {
    const expiring = await host.addKey('owner', { expiresAt: host.clock.now() + MINUTE })
    const before = await send(route, row.ask(NOBODYS, NOBODYS.slug, NOBODYS), bearer(expiring))
    expect(before.status).not.toBe(401)
    host.clock.advance(MINUTE)
    await expectNoKey(bearer(expiring))
  })

  test('is 403 with the key of a disabled account', async () => {
    const username = `disabled-${crypto.randomUUID().slice(0, 8)}`
    const { apiKey } = await host.addAccount(username)
    await host.disableAccount(username)
    const response = await send(route, row.ask(owners, owners.slug, owners), bearer(apiKey))
    expect(response.status).toBe(403)
    expect(failure.parse(await response.json()).error).toBe('ACCOUNT_DISABLED')
  })

  test('takes a session as it takes a key, unless it is over, of a disabled account or used by another site', async () => {
    const ask = (headers: Headers) => send(route, row.ask(NOBODYS, NOBODYS.slug, NOBODYS), headers)
    if (row.keyOnly === true) {
      for (const session of Object.values(sessions)) {
        expect(await refused(await ask(session))).toBe('401 INVALID_API_KEY')
      }
      return
    }
    if (row.proved === true) await prove(sessions.owner)
    expect((await ask(sessions.owner)).status).toBe((await ask(bearer(ownerKey))).status)
    expect(await refused(await ask(sessions.ended))).toBe('401 NOT_SIGNED_IN')
    expect(await refused(await ask(sessions.disabled))).toBe('403 ACCOUNT_DISABLED')
    for (const headers of fromElsewhere(sessions.owner)) {
      expect(await refused(await ask(headers))).toBe(
        isReading(route) ? '401 INVALID_API_KEY' : '403 FOREIGN_ORIGIN',
      )
    }
    expect(await refused(await ask({ ...sessions.owner, ...bearer('hf_wrong') }))).toBe('401 INVALID_API_KEY')
  })

  test('takes Bearer in any case', async () => {
    for (const scheme of ['bearer', 'BEARER', 'BeArEr']) {
      const headers = { authorization: `${scheme} ${ownerKey}` }
      const response = await send(route, row.ask(NOBODYS, NOBODYS.slug, NOBODYS), headers)
      expect(response.status).not.toBe(401)
    }
  })
})

/** Signs in again: some routes ask for a sign-in that is not long ago, and time passes in these tests. */
async function prove(session: Headers): Promise<void> {
  const path = '/api/v1/session/proof'
  const { status } = await send(`post ${path}`, { path, body: { password: PASSWORD } }, session)
  expect(status).toBe(200)
}

/** What a request is about, and who sends it. */
interface Question {
  readonly route: string
  readonly build: Build
  readonly kind: 'slug' | 'uuid' | 'id'
  readonly headers: Headers
  /** What the caller has. */
  readonly own: Things
}

/** The answer with every identifier replaced by the kind of thing it is. */
async function answerAbout(things: Things, { route, build, kind, headers, own }: Question): Promise<string> {
  const response = await send(route, build(things, things[kind], own), headers)
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const text = JSON.stringify([response.status, await (isJson ? response.json() : response.text())])
  const pairs: readonly [FileId, string][] = [
    [things.slug, '<slug>'],
    [things.uuid, '<uuid>'],
    [things.folder, '<folder>'],
    [things.parent, '<parent>'],
    [things.link, '<link>'],
  ]
  const replaced = pairs.reduce((left, [found, name]) => left.replaceAll(String(found), name), text)
  return replaced
    .replace(new RegExp(`(?<![\\w])${things.id}(?![\\w])`, 'g'), '<id>')
    .replaceAll(`"entry":${things.entry}`, '"entry":"<entry>"')
    .replaceAll(NOBODYS.slug, '<slug>')
}

/** Those for whom what the owner has is not there. */
const outsiders = [
  {
    who: 'another account',
    keyOf: () => strangerKey,
    headersOf: () => bearer(strangerKey),
    kinds: ['slug', 'uuid', 'id'],
  },
  {
    who: 'another account signed in',
    keyOf: () => strangerKey,
    headersOf: () => sessions.stranger,
    kinds: ['slug'],
  },
  {
    who: 'a key of the owner’s for another folder',
    keyOf: () => boundKey,
    headersOf: () => bearer(boundKey),
    kinds: ['slug'],
  },
] as const

const telling = rows.filter(({ row }) => Object.keys(row.about).length > 0)
const asked = telling
  .flatMap(({ route, row }) => outsiders.map((outsider) => ({ route, row, ...outsider })))
  .filter(({ row, who }) => row.keyOnly !== true || who !== 'another account signed in')

describe.each(asked)('what the owner has, asked for by $who with $route', (asking) => {
  const { route, row, keyOf, headersOf, kinds } = asking
  let own: Things
  beforeEach(async () => {
    own = await belongings(keyOf())
    if (row.proved === true) await prove(sessions.stranger)
  })

  const known = row.slugOnly ? (['slug'] as const) : kinds
  const cases = Object.entries(row.about).flatMap(([way, build]) =>
    known.map((kind) => ({ way, build, kind })),
  )

  test.each(sampleOf(cases))(
    'is answered as what does not exist: $way, by $kind',
    async ({ build, kind }) => {
      const before = await snapshot()
      const question = { route, build, kind, headers: headersOf(), own }
      const foreign = await answerAbout(owners, question)
      const missing = await answerAbout(NOBODYS, question)
      expect(foreign).toBe(missing)
      const [status, body] = z.tuple([z.number(), z.unknown()]).parse(JSON.parse(foreign))
      expect([200, 404]).toContain(status)
      expect(body).toMatchObject({ success: false })
      expect(await snapshot()).toBe(before)
    },
  )
})

const ways = telling.flatMap(({ route, row }) =>
  Object.entries(row.about).map(([way, build]) => ({ route, way, build })),
)

// A request that its owner gets the same answer to as to what does not exist would prove nothing above.
test.each(ways)('$route tells its owner more than what does not exist: $way', async ({ route, build }) => {
  const { username, apiKey } = await host.addAccount()
  // The newest key is what a request is about.
  await host.addKey(username)
  const [things, own] = [await belongings(apiKey), await belongings(apiKey)]
  const question = { route, build, kind: 'slug', headers: bearer(apiKey), own } as const
  const missing = await answerAbout(NOBODYS, question)
  expect(await answerAbout(things, question)).not.toBe(missing)
})

const aboutSigningIn = routes.filter(({ auth }) => auth === 'session').map(nameOf)

test.each(aboutSigningIn)(
  '%s takes no key, and no session that is over or used by another site',
  async (route) => {
    const ask = (headers: Headers) =>
      send(route, { path: (route.split(' ')[1] ?? '').replaceAll('{}', '1') }, headers)
    for (const headers of [{}, bearer(ownerKey), sessions.ended]) {
      expect(await refused(await ask(headers))).toBe('401 NOT_SIGNED_IN')
    }
    expect(await refused(await ask(sessions.disabled))).toBe('403 ACCOUNT_DISABLED')
    for (const headers of fromElsewhere(sessions.owner)) {
      expect(await refused(await ask(headers))).toBe(
        isReading(route) ? '401 NOT_SIGNED_IN' : '403 FOREIGN_ORIGIN',
      )
    }
  },
)

const forAdministrators = routes.filter(({ auth }) => auth === 'administrator').map(nameOf)

test.each(forAdministrators)(
  '%s is for administrators who are signed in here, and for nobody else',
  async (route) => {
    const nothing = { path: (route.split(' ')[1] ?? '').replaceAll('{}', '0') }
    const body = isReading(route) || route.startsWith('delete') ? nothing : { ...nothing, body: {} }
    const ask = (headers: Headers) => send(route, body, headers)
    await prove(sessions.administrator)
    expect([200, 201, 400, 404]).toContain((await ask(sessions.administrator)).status)
    for (const headers of [{}, bearer(ownerKey), bearer(administratorKey), sessions.ended]) {
      expect(await refused(await ask(headers))).toBe('401 NOT_SIGNED_IN')
    }
    expect(await refused(await ask(sessions.owner))).toBe('403 ADMIN_NEEDED')
    expect(await refused(await ask(sessions.formerAdministrator))).toBe('403 ADMIN_NEEDED')
    expect(await refused(await ask(sessions.disabledAdministrator))).toBe('403 ACCOUNT_DISABLED')
    for (const headers of fromElsewhere(sessions.administrator)) {
      expect(await refused(await ask(headers))).toBe(
        isReading(route) ? '401 NOT_SIGNED_IN' : '403 FOREIGN_ORIGIN',
      )
    }
  },
)

test('a batch with somebody else’s file moves the caller’s own and no other', async () => {
  const mine = await belongings(strangerKey)
  const before = await snapshot()
  for (const foreign of [owners.slug, owners.uuid, owners.id]) {
    const body = { files: [mine.slug, foreign, mine.uuid], folder: mine.parent }
    const moved = await api(host, strangerKey, 'POST', '/api/v1/files/move', body)
    expect(moved.body).toMatchObject({
      success: false,
      data: { moved: 2, failed: 1, results: [{ success: true }, { success: false }, { success: true }] },
    })
  }
  expect(await snapshot()).toBe(before)
})

test('a batch with somebody else’s folder moves the caller’s own and no other', async () => {
  const mine = await belongings(strangerKey)
  const before = await snapshot()
  const body = { folders: [owners.folder, mine.folder], parent: mine.parent }
  const moved = await api(host, strangerKey, 'POST', '/api/v1/folders/move', body)
  expect(moved.body).toMatchObject({
    success: false,
    data: {
      moved: 1,
      failed: 1,
      results: [{ success: false, error: 'FOLDER_NOT_FOUND' }, { success: true }],
    },
  })
  expect(await snapshot()).toBe(before)
})

test('a list of deletions with somebody else’s things deletes the caller’s own and no other', async () => {
  const mine = await belongings(strangerKey)
  const before = await snapshot()
  const files = { identifiers: [mine.slug, owners.slug, owners.uuid, owners.id] }
  const deleted = await api(host, strangerKey, 'POST', '/file/delete', files)
  expect(deleted.body).toMatchObject({
    success: false,
    successful_deletes: 1,
    failed_deletes: 3,
    files_deleted: 1,
  })
  const folders = { identifiers: [owners.folder, mine.folder] }
  const gone = await api(host, strangerKey, 'POST', '/folder/delete', folders)
  expect(gone.body).toMatchObject({ success: false, successful_deletes: 1, failed_deletes: 1 })
  expect(await snapshot()).toBe(before)
})

test('one account sees nothing of another in its lists and counts', async () => {
  const newcomer = (await host.addAccount('newcomer')).apiKey
  const files = await api(host, newcomer, 'GET', '/api/v1/files')
  expect(files.body).toMatchObject({ data: [], pagination: { total: 0 } })
  const search = await api(host, newcomer, 'GET', '/api/v1/files?search=mine')
  expect(search.body).toMatchObject({ data: [], pagination: { total: 0 } })
  expect((await api(host, newcomer, 'GET', '/api/v1/folders')).body).toMatchObject({ data: [] })
  expect((await api(host, newcomer, 'GET', '/api/v1/account')).body).toMatchObject({
    data: { files_count: 0, folders_count: 0, storage_used: 0 },
  })
})
