/** The document of the API beside the answers of the server: nothing is documented that does not answer so. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { OIDC_CALLBACK } from '../../../../src/accounts/sign-in/oidc.ts'
import { PROBE_HEADER } from '../../../../src/contract/health.ts'
import { createSigning } from '../../../../src/core/hmac.ts'
import { metaOf } from '../../../../src/core/meta.rows.ts'
import { createProbes } from '../../../../src/operations/doctor/raw-request.ts'
import { referenceOf } from '../../../../src/pages/reference/reference.ts'
import { exampleOf } from '../../../../src/pages/reference/reference-fields.ts'
import { type ApiDocument, documentSchema } from '../../../../src/pages/reference/reference-schema.ts'
import { type Answer, type Api, api } from '../../../support/clients/api.ts'
import { intoBin } from '../../../support/clients/bin.ts'
import { watchEvents } from '../../../support/clients/events.ts'
import { compile, findOperation, type OpenApi, openApi } from '../../../support/clients/openapi.ts'
import {
  PASSWORD,
  sessionHeaders,
  signedIn,
  type Visitor,
  visitor,
} from '../../../support/clients/site-visitor.ts'
import { PNG } from '../../../support/contents/picture.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'
import { codeOf } from '../../../support/sign-in/codes.ts'
import { NO_MAIL_SERVER } from '../../../support/sign-in/mail-server.ts'

let document: OpenApi
let reference: ApiDocument
const holdfast = await hostOfFile({ signUp: 'open', mail: NO_MAIL_SERVER })
beforeAll(async () => {
  document = await openApi(holdfast)
  reference = documentSchema.parse(document)
})

/** What is asked of an operation, once: its path with what stands in the braces, and the rest. */
interface Asking {
  readonly path: string
  readonly init?: BunFetchRequestInit
  /** Somebody without a key asks. */
  readonly isOpen?: boolean
  /** A page asks, in this browser. */
  readonly by?: Visitor
}

/** As `holdfast doctor` asks, who knows the secret of the installation. */
async function everyProbe(): Promise<Record<string, Asking>> {
  const secret = await metaOf(holdfast.database, 'link_secret')
  const token = createProbes(createSigning(secret ?? ''), holdfast.clock).token()
  const headers = { [PROBE_HEADER]: token }
  const path = '/api/v1/probe'
  return {
    'get /api/v1/probe': { path, init: { headers }, isOpen: true },
    'put /api/v1/probe': { path, init: { headers, body: 'x' }, isOpen: true },
    'patch /api/v1/probe': { path, init: { headers, body: 'x' }, isOpen: true },
  }
}

describe('the OpenAPI document', () => {
  test('holds what every operation answers, and every operation that answers', async () => {
    const { apiKey, username } = await holdfast.addAccount()
    const caller = api(holdfast, apiKey)
    const askings = {
      ...(await everyOperation(caller)),
      ...(await everyOperationOfPeople(username)),
      ...(await everyProbe()),
    }
    const inApi = documented((tags) => !tags.includes(ADMINISTRATION)).filter(
      (each) => !PAGES.some((page) => ` ${each}`.endsWith(` ${page}`)) && !OF_AUTHENTICATORS.includes(each),
    )
    expect([...Object.keys(askings), ENDLESS].sort()).toEqual(inApi.sort())
    await expectDocumented(askings, caller)
    await using watcher = await watchEvents(holdfast, apiKey)
    expect(watcher.response.status).toBe(200)
    const events = streamed.parse(findOperation(document, 'GET', '/api/v1/events')?.responses[200])
    const isDocumented = compile(document, events.content['text/event-stream'].schema)
    await caller.folder('Watched')
    expect(isDocumented((await watcher.until(({ event }) => event === 'change')).data)).toBe(true)
  })

  test('holds what every operation of administrators answers', async () => {
    const { apiKey } = await holdfast.addAccount()
    const caller = api(holdfast, apiKey)
    const askings = await everyOperationOfAdministrators((content) => caller.put(content))
    const forThem = documented((tags) => tags.includes(ADMINISTRATION))
    expect(Object.keys(askings).sort()).toEqual(forThem.sort())
    await expectDocumented(askings, caller)
  })

  /** Operations by their tags. */
  function documented(isWanted: (tags: readonly string[]) => boolean): string[] {
    return Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { tags }]) => isWanted(tags))
        .map(([method]) => `${method} ${path}`),
    )
  }

  async function expectDocumented(askings: Record<string, Asking>, caller: Api): Promise<void> {
    for (const [operation, { path, init, isOpen, by }] of Object.entries<Asking>(askings)) {
      const method = operation.split(' ')[0]?.toUpperCase() ?? ''
      const requester = isOpen || by !== undefined ? api(holdfast) : caller
      const headers = { ...init?.headers, ...(by === undefined ? {} : sessionHeaders(by)) }
      const [plain = ''] = path.split('?')
      const body = await asPrinted(method, plain, init, () => caller.folder(operation.replaceAll('/', ' ')))
      // Every answer to such a caller is held against the document.
      const answer = await requester.send(path, { method, ...init, body, headers })
      by?.keep(answer.headers)
      const { status } = answer
      expect(`${operation} ${status}`).toMatch(operation === 'get /metrics' ? / 404$/ : / 20[0146]$/)
      expect(findOperation(document, method, plain)?.responses[status]).toBeDefined()
    }
  }

  /** The body of the example, with things and secrets of the one who asks in the place of those that it names. */
  async function asPrinted(
    method: string,
    path: string,
    init: BunFetchRequestInit | undefined,
    folder: () => Promise<string>,
  ): Promise<BunFetchRequestInit['body']> {
    const { data } = bodyShape.safeParse(findOperation(document, method, path)?.requestBody)
    const schema = data?.content['application/json']?.schema
    if (schema === undefined || typeof init?.body !== 'string') return init?.body ?? null
    const example = exampleOf(reference.components.schemas, schema)
    const text = JSON.stringify(example)
    const printed = text.includes(EXAMPLE_FOLDER) ? text.replaceAll(EXAMPLE_FOLDER, await folder()) : text
    return JSON.stringify({ ...record.parse(JSON.parse(printed)), ...record.parse(JSON.parse(init.body)) })
  }

  test('prints every request with what it needs to be understood', () => {
    const operations = referenceOf(document, 'https://files.example.org').groups.flatMap(
      (each) => each.operations,
    )
    for (const { method, path, parameters, curl } of operations) {
      const needed = parameters.filter(({ place, isRequired }) => place === 'header' && isRequired)
      const missing = needed.filter(({ name }) => !curl.includes(`-H '${name}: `)).map(({ name }) => name)
      expect([method, path, ...missing]).toEqual([method, path])
      expect(curl).not.toMatch(/undefined|null|'='/)
    }
    const renaming = operations.find(({ method, path }) => method === 'POST' && path === '/r/{receipt}')
    expect(renaming?.curl).toContain("'name=holiday.jpg'")
  })

  test('has an example of every field and parameter, which its schema allows', () => {
    const missing: string[] = []
    const wrong: string[] = []
    eachSchema(document, (schema, where) => {
      if (schema.example === undefined) {
        if (needsExample(schema)) missing.push(where)
      } else if (!compile(document, withoutExample(schema))(schema.example)) wrong.push(where)
    })
    expect({ missing, wrong }).toEqual({ missing: [], wrong: [] })
  })

  test('shows every refusal with a code of its status', () => {
    const error = z.object({ success: z.literal(false), message: z.string().min(1), error: z.string() })
    const media = z.object({ content: z.object({ 'application/json': z.object({ example: error }) }) })
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        for (const [status, response] of Object.entries(responses)) {
          // An answer to HEAD has no body.
          if (Number(status) < 400 || method === 'head') continue
          const { success } = media.safeParse(response)
          expect(`${method} ${path} ${status}: ${success}`).toEndWith('true')
        }
      }
    }
  })
})

const EXAMPLE_FOLDER = 'k7w2m9x4q1z8v3b6'
const bodyShape = z.object({ content: z.record(z.string(), z.object({ schema: z.looseObject({}) })) })

const ADMINISTRATION = 'Administration'

/** Pages are for people; how they look is tested with them. */
const PAGES = [
  'get /',
  'get /{name}',
  'post /',
  '/d/{slug}',
  '/r/{receipt}',
  '/d/{slug}/card.jpg',
  '/d/{slug}/report',
  '/f/{identifier}',
  '/f/{identifier}/card.jpg',
  '/l/{link}',
  '/l/{link}/{target}',
  '/l/{link}/{target}/card.jpg',
  '/l/{link}/{target}/report',
  '/l/{link}/{target}/thumbnail',
  '/r/{receipt}/{target}/thumbnail',
  '/branding/{name}',
  '/legal/{page}',
  '/docs',
  '/docs/{guide}',
  '/files',
  '/files/{identifier}',
  '/settings',
  '/settings/{section}',
  '/admin',
  '/admin/{section}',
  '/sign-in',
  '/sign-in/code',
  '/sign-in/oidc',
  OIDC_CALLBACK,
  '/sign-out',
  '/sign-up',
  '/sign-up/{token}',
  '/welcome/{token}',
  '/set-password/{token}',
  '/settings',
  '/settings/{section}',
  '/sign-in/forgotten',
  '/sign-in/proved',
  '/verify-mail/{token}',
  '/keep/{token}',
  '/unsubscribe/{token}',
]

/** These need what an authenticator has made: `test/browser/signing-in.test.ts`. */
const OF_AUTHENTICATORS = [
  'post /api/v1/passkeys',
  'patch /api/v1/passkey/{id}',
  'delete /api/v1/passkey/{id}',
  'post /api/v1/session/passkey',
  'post /api/v1/session/proof/passkey',
]

/** An answer without an end, which is asked for by itself. */
const ENDLESS = 'get /api/v1/events'
const streamed = z.object({
  content: z.object({ 'text/event-stream': z.object({ schema: z.looseObject({}) }) }),
})

const MAIL = '/api/v1/account/mail'

const TUS = { 'Tus-Resumable': '1.0.0' }
const CHUNK = 'application/offset+octet-stream'

/** Nothing is sent there: the server asks nobody in private networks. */
const LOCAL = 'http://localhost:65535/'

/** One request that succeeds for each operation. */
async function everyOperation(caller: Api): Promise<Record<string, Asking>> {
  const folder = await caller.folder('Examples')
  const put = (name: string) => caller.put('content', { name })
  const [file, moved, gone, goneToo] = [
    await put('a.txt'),
    await put('b.txt'),
    await put('c.txt'),
    await put('d.txt'),
  ]
  const folders = await Promise.all(['one', 'two', 'three', 'four'].map((name) => caller.folder(name)))
  const [one = '', two = '', three = '', four = ''] = folders
  const [away, back, dropped] = [await put('e.txt'), await put('f.txt'), await put('g.txt')]
  const entries = await intoBin(caller, { files: [back.slug, dropped.slug] })
  const started = async () => {
    const headers = { ...TUS, 'Upload-Length': '4' }
    return location(await caller.send('/api/v1/uploads', { method: 'POST', headers }))
  }
  const [patched, looked, given, posted] = [
    await started(),
    await started(),
    await started(),
    await started(),
  ]
  const lost = { ...TUS, 'Upload-Length': '4' }
  const lostSlug = (await caller.send('/api/v1/uploads', { method: 'POST', headers: lost })).headers.get(
    'holdfast-slug',
  )
  const signed = z
    .object({ server: z.string(), file: z.string(), token: z.string() })
    .parse((await caller.post('/v2/api/public/download', { file_slug: file.slug })).body)
  const archive = z
    .object({ data: z.object({ url: z.string() }) })
    .parse((await caller.post('/api/v1/files/download', { files: [file.slug] })).body)
  await caller.post('/api/v1/links', { folders: [folder], uploads: {}, slug: 'documented-too' })
  const taking = '/api/v1/links/documented-too'
  // As the example of making one calls it.
  const made = '/api/v1/links/holiday-2036'
  const numbered = z.object({ data: z.object({ id: z.number() }) })
  const webhook = numbered.parse((await caller.post('/api/v1/webhooks', { url: LOCAL })).body).data.id
  const hook = `/api/v1/webhooks/${webhook}`
  const delivery = numbered.parse((await caller.post(`${hook}/test`, {})).body).data.id
  const guests = async (text: string) =>
    z.object({ receipt: z.string() }).parse((await api(holdfast).upload(text)).body).receipt
  const [receipt, claimed] = [await guests('a guest’s'), await guests('claimed')]
  const { receipt: linkReceipt } = z
    .object({ receipt: z.string() })
    .parse((await api(holdfast).post('/api/v1/receipts/link', { receipts: [receipt] })).body)
  const { receipt: transferReceipt } = z
    .object({ receipt: z.string() })
    .parse((await api(holdfast).post('/api/v1/transfers', {})).body)
  const cover = new FormData()
  cover.append('folder', folder)
  cover.append('thumbnail', new Blob([PNG]), 'cover.png')
  const form = new FormData()
  form.set('file', new File(['content'], 'e.txt'))
  const chunk = { headers: { ...TUS, 'Upload-Offset': '0', 'Content-Type': CHUNK }, body: 'data' }
  return {
    'post /api/v1/upload': { path: '/api/v1/upload', init: { body: form } },
    'put /api/v1/upload/{name}': { path: '/api/v1/upload/e.txt', init: { body: 'content' } },
    'put /{name}': { path: '/e.txt', init: { body: 'content', headers: { accept: 'application/json' } } },
    'put /': { path: '/', init: { body: 'content', headers: { accept: 'application/json' } } },
    'get /api/v1/receipt/{receipt}': { path: `/api/v1/receipt/${receipt}`, isOpen: true },
    'patch /api/v1/receipt/{receipt}': {
      path: `/api/v1/receipt/${receipt}`,
      init: { ...json({}), method: 'PATCH' },
      isOpen: true,
    },
    'get /api/v1/receipt/{receipt}/log': { path: `/api/v1/receipt/${linkReceipt}/log`, isOpen: true },
    'get /api/v1/receipt/{receipt}/files': {
      path: `/api/v1/receipt/${transferReceipt}/files`,
      isOpen: true,
    },
    'post /api/v1/transfers': { path: '/api/v1/transfers', init: json({ name: 'Documented' }) },
    'post /api/v1/receipts/link': {
      path: '/api/v1/receipts/link',
      init: json({ receipts: [receipt] }),
      isOpen: true,
    },
    'post /api/v1/receipt/{receipt}/claim': {
      path: `/api/v1/receipt/${claimed}/claim`,
      init: json({ folder }),
    },
    'delete /api/v1/receipt/{receipt}': { path: `/api/v1/receipt/${receipt}`, isOpen: true },
    'get /api/v1/upload/status': { path: `/api/v1/upload/status?slug=${file.slug}` },
    'get /api/v1/uploads': { path: '/api/v1/uploads' },
    'post /api/v1/upload/cancel': { path: '/api/v1/upload/cancel', init: json({ slug: lostSlug }) },
    'post /api/v1/uploads': {
      path: '/api/v1/uploads',
      init: { headers: { ...TUS, 'Upload-Length': '4' } },
    },
    'options /api/v1/uploads': { path: '/api/v1/uploads' },
    'patch /api/v1/uploads/{upload}': { path: patched, init: chunk },
    'get /api/v1/uploads/{upload}': { path: looked },
    'head /api/v1/uploads/{upload}': { path: looked, init: { headers: TUS } },
    'delete /api/v1/uploads/{upload}': { path: given, init: { headers: TUS } },
    'post /api/v1/uploads/{upload}': {
      path: posted,
      init: { ...chunk, headers: { ...chunk.headers, 'X-HTTP-Method-Override': 'PATCH' } },
    },
    'options /api/v1/uploads/{upload}': { path: looked },
    'get /api/v1/files': { path: '/api/v1/files' },
    'get /api/v1/file/{id}': { path: `/api/v1/file/${file.slug}` },
    'patch /api/v1/file/{id}': { path: `/api/v1/file/${file.slug}`, init: json({ name: 'z.txt' }) },
    'post /api/v1/file/move': { path: '/api/v1/file/move', init: json({ file: moved.slug, folder }) },
    'post /api/v1/files/move': { path: '/api/v1/files/move', init: json({ files: [moved.slug] }) },
    'post /api/v1/files/download': { path: '/api/v1/files/download', init: json({ files: [file.slug] }) },
    'post /file/delete': { path: '/file/delete', init: json({ identifiers: [gone.slug] }) },
    'post /api/v1/file/delete': { path: '/api/v1/file/delete', init: json({ identifiers: [goneToo.slug] }) },
    'get /api/v1/folders': { path: '/api/v1/folders' },
    'post /api/v1/folder': { path: '/api/v1/folder', init: json({ name: 'five' }) },
    'get /api/v1/folder/{identifier}': { path: `/api/v1/folder/${folder}` },
    'patch /api/v1/folder/{identifier}': { path: `/api/v1/folder/${folder}`, init: json({ password: null }) },
    'get /api/v1/folder/{identifier}/files': { path: `/api/v1/folder/${folder}/files` },
    'get /api/v1/folder/{identifier}/folders': { path: `/api/v1/folder/${folder}/folders` },
    'get /api/v1/folder/{identifier}/download': { path: `/api/v1/folder/${folder}/download` },
    'post /api/v1/folder/thumbnail': {
      path: '/api/v1/folder/thumbnail',
      init: { method: 'POST', body: cover },
    },
    'post /api/v1/folder/move': { path: '/api/v1/folder/move', init: json({ folder: one, parent: folder }) },
    'post /api/v1/folders/move': {
      path: '/api/v1/folders/move',
      init: json({ folders: [two], parent: folder }),
    },
    'post /folder/delete': { path: '/folder/delete', init: json({ identifiers: [three] }) },
    'post /api/v1/folder/delete': { path: '/api/v1/folder/delete', init: json({ identifiers: [four] }) },
    'post /api/v1/bin': { path: '/api/v1/bin', init: json({ files: [away.slug] }) },
    'get /api/v1/bin': { path: '/api/v1/bin' },
    'post /api/v1/bin/restore': {
      path: '/api/v1/bin/restore',
      init: json({ entries: entries.slice(0, 1), folder }),
    },
    'post /api/v1/bin/delete': { path: '/api/v1/bin/delete', init: json({ entries: entries.slice(1) }) },
    'delete /api/v1/bin': { path: '/api/v1/bin' },
    'post /api/v1/links': { path: '/api/v1/links', init: json({ files: [file.slug], folders: [folder] }) },
    'get /api/v1/links': { path: '/api/v1/links' },
    'get /api/v1/links/{link}': { path: made },
    'patch /api/v1/links/{link}': { path: made, init: json({}) },
    'get /api/v1/links/{link}/contributions': { path: `${taking}/contributions` },
    'post /api/v1/webhooks': { path: '/api/v1/webhooks', init: json({ url: LOCAL }) },
    'get /api/v1/webhooks': { path: '/api/v1/webhooks' },
    'get /api/v1/webhooks/{id}': { path: hook },
    'patch /api/v1/webhooks/{id}': { path: hook, init: json({ kinds: ['link.arrived'] }) },
    'post /api/v1/webhooks/{id}/test': { path: `${hook}/test` },
    'get /api/v1/webhooks/{id}/deliveries': { path: `${hook}/deliveries` },
    'post /api/v1/webhooks/{id}/deliveries/{delivery}/replay': {
      path: `${hook}/deliveries/${delivery}/replay`,
    },
    'delete /api/v1/webhooks/{id}': { path: hook },
    'get /api/v1/links/{link}/log': { path: `${taking}/log` },
    'post /api/v1/links/{link}/upload': { path: `${taking}/upload`, init: { body: form }, isOpen: true },
    'post /api/v1/links/{link}/uploads': {
      path: `${taking}/uploads`,
      init: { headers: { ...TUS, 'Upload-Length': '4' } },
      isOpen: true,
    },
    'delete /api/v1/links/{link}': { path: made },
    'get /api/v1/account': { path: '/api/v1/account' },
    'get /api/v1/account/storage': { path: '/api/v1/account/storage' },
    'get /api/v1/account/requests': { path: '/api/v1/account/requests' },
    'get /api/v1/keys': { path: '/api/v1/keys' },
    'get /api/v1/openapi.json': { path: '/api/v1/openapi.json', isOpen: true },
    'get /api/v1/notice': { path: '/api/v1/notice', isOpen: true },
    'get /health': { path: '/health', isOpen: true },
    'get /ready': { path: '/ready', isOpen: true },
    'get /metrics': { path: '/metrics', isOpen: true },
    'post /v2/api/public/download': {
      path: '/v2/api/public/download',
      init: json({ file_slug: file.slug }),
      isOpen: true,
    },
    'post /v2/api/public/view': {
      path: '/v2/api/public/view',
      init: json({ file_slug: file.slug }),
      isOpen: true,
    },
    'post /v2/api/public/folder': { path: '/v2/api/public/folder', init: json({ folder }), isOpen: true },
    'post /api/v1/file/report': {
      path: '/api/v1/file/report',
      init: json({ slug: file.slug }),
      isOpen: true,
    },
    'get /v2/{file}': { path: `/v2/${signed.file}?token=${signed.token}`, isOpen: true },
    'get /z/{token}': { path: new URL(archive.data.url).pathname, isOpen: true },
    'get /t/{uuid}': { path: `/t/${file.uuid}`, isOpen: true },
    'get /oembed': { path: `/oembed?url=${encodeURIComponent(file.url)}`, isOpen: true },
  }
}

/** The same for what concerns signing in. */
async function everyOperationOfPeople(username: string): Promise<Record<string, Asking>> {
  const { links } = holdfast
  const tokenOf = (link: { path: string } | null) => link?.path.split('/').at(-1)
  const somebody = async (name: string) => {
    await holdfast.addAccount(name)
    return signedIn(holdfast, name)
  }
  const beginCodes = async (by: Visitor) => {
    const reply = await by.send('POST', '/api/v1/account/codes', { password: PASSWORD })
    return reply.data(z.object({ secret: z.string() })).secret
  }
  const confirm = '/api/v1/account/codes/confirm'
  const [nobody, first, entering] = [newVisitor(), newVisitor(), newVisitor()]
  const [person, leaving, cautious, careful] = [
    await signedIn(holdfast, username),
    await somebody('leaving'),
    await somebody('cautious'),
    await somebody('careful'),
  ]
  const [session] = (await person.get('/api/v1/sessions')).data(z.array(z.object({ id: z.number() })))
  const key = { name: 'backup', scopes: ['read'] }
  const made = (await person.send('POST', '/api/v1/key', key)).data(z.object({ id: z.number() }))
  const code = codeOf(await beginCodes(cautious))
  const secret = await beginCodes(careful)
  await careful.send('POST', confirm, { code: codeOf(secret) })
  await entering.send('POST', '/api/v1/session', { username: 'careful', password: PASSWORD })
  const welcome = tokenOf(await links.welcome())
  const password = PASSWORD
  const asked = (by: Visitor, path: string, body?: object): Asking => ({
    path,
    by,
    ...(body === undefined ? {} : { init: json(body) }),
  })
  return {
    'post /api/v1/account': asked(nobody, '/api/v1/account', { username: 'joining', password }),
    'delete /api/v1/session': asked(nobody, '/api/v1/session'),
    'post /api/v1/session': asked(nobody, '/api/v1/session', { username: 'leaving', password }),
    'post /api/v1/session/passkey/options': asked(nobody, '/api/v1/session/passkey/options'),
    'post /api/v1/session/code': asked(entering, '/api/v1/session/code', { code: codeOf(secret, 1) }),
    'post /api/v1/account/password': asked(nobody, '/api/v1/account/password', {
      token: tokenOf(await links.password('careful')),
      password,
    }),
    'post /api/v1/account/first': asked(first, '/api/v1/account/first', {
      username: 'first',
      password,
      token: welcome,
    }),
    'post /api/v1/account/delete': asked(leaving, '/api/v1/account/delete', {
      username: 'leaving',
      password,
    }),
    'post /api/v1/account/codes/confirm': asked(cautious, confirm, { code }),
    'post /api/v1/account/codes/recovery': asked(cautious, '/api/v1/account/codes/recovery', { password }),
    'post /api/v1/account/codes/delete': asked(cautious, '/api/v1/account/codes/delete', { password }),
    'post /api/v1/account/codes': asked(person, '/api/v1/account/codes', { password }),
    'post /api/v1/account/mail': asked(person, MAIL, { address: 'ada@example.org', password }),
    'get /api/v1/account/mail': asked(person, MAIL),
    'patch /api/v1/account/mail': asked(person, MAIL, { warnings: false }),
    'post /api/v1/account/mail/delete': asked(person, `${MAIL}/delete`, { password }),
    'get /api/v1/session': asked(person, '/api/v1/session'),
    'post /api/v1/session/proof': asked(person, '/api/v1/session/proof', { password }),
    'post /api/v1/key': asked(person, '/api/v1/key', {}),
    'delete /api/v1/key/{id}': asked(person, `/api/v1/key/${made.id}`),
    'get /api/v1/sessions': asked(person, '/api/v1/sessions'),
    'delete /api/v1/sessions': asked(person, '/api/v1/sessions'),
    'get /api/v1/passkeys': asked(person, '/api/v1/passkeys'),
    'post /api/v1/passkeys/options': asked(person, '/api/v1/passkeys/options', { password }),
    'patch /api/v1/account': asked(person, '/api/v1/account', { password, username: 'renamed' }),
    'delete /api/v1/session/{id}': asked(person, `/api/v1/session/${session?.id}`),
  }
}

/** The same for administrators. */
async function everyOperationOfAdministrators(
  put: (content: string) => Promise<{ readonly slug: string }>,
): Promise<Record<string, Asking>> {
  const somebody = await holdfast.addAccount('somebody')
  const leaving = await holdfast.addAccount('somebody-else')
  await holdfast.makeAdmin('root')
  const by = await signedIn(holdfast, 'root')
  const logo = new FormData()
  logo.append('logo', new Blob([PNG]), 'logo.png')
  const asked = (path: string, body?: object): Asking => ({
    path,
    by,
    ...(body === undefined ? {} : { init: json(body) }),
  })
  for (const { slug } of [await put('one'), await put('two')]) {
    await api(holdfast).post('/api/v1/file/report', { slug, reason: 'spam', text: 'Look at it.' })
  }
  const reports = (await by.get('/api/v1/admin/reports')).data(z.array(z.object({ id: z.number() })))
  const [first, second] = reports.map(({ id }) => `/api/v1/admin/report/${id}`)
  const account = `/api/v1/admin/account/${somebody.id}`
  const refused = Bun.SHA256.hash('refused', 'hex')
  await by.send('POST', '/api/v1/admin/take-down', { sha256: refused })
  await sql`insert into jobs (name, failures) values ('purge unused files', 5)
    on conflict (name) do update set failures = 5`.execute(holdfast.database)
  return {
    'post /api/v1/invitations': asked('/api/v1/invitations'),
    'get /api/v1/admin/accounts': asked('/api/v1/admin/accounts?search=some&sort=username&state=active'),
    'get /api/v1/admin/account/{id}': asked(account),
    'patch /api/v1/admin/account/{id}': asked(account, {}),
    'post /api/v1/admin/account/{id}/reset': asked(`${account}/reset`, {}),
    'post /api/v1/admin/account/{id}/delete': asked(`/api/v1/admin/account/${leaving.id}/delete`, {
      username: 'somebody-else',
    }),
    'get /api/v1/admin/statistics': asked('/api/v1/admin/statistics?days=2'),
    'get /api/v1/admin/files': asked('/api/v1/admin/files?sort=size'),
    'get /api/v1/admin/integrity': asked('/api/v1/admin/integrity'),
    'get /api/v1/admin/damaged': asked('/api/v1/admin/damaged?state=repaired'),
    'get /api/v1/admin/jobs': asked('/api/v1/admin/jobs'),
    'post /api/v1/admin/jobs/retry': asked('/api/v1/admin/jobs/retry', { job: 'purge unused files' }),
    'post /api/v1/admin/doctor': asked('/api/v1/admin/doctor'),
    'get /api/v1/admin/nodes': asked('/api/v1/admin/nodes'),
    'get /api/v1/admin/settings': asked('/api/v1/admin/settings'),
    'post /api/v1/admin/notice': asked('/api/v1/admin/notice', {}),
    'get /api/v1/admin/notice': asked('/api/v1/admin/notice'),
    'delete /api/v1/admin/notice': asked('/api/v1/admin/notice'),
    'get /api/v1/admin/branding': asked('/api/v1/admin/branding'),
    'patch /api/v1/admin/branding': asked('/api/v1/admin/branding', { name: 'Files of Example' }),
    'post /api/v1/admin/branding/logo': {
      path: '/api/v1/admin/branding/logo',
      by,
      init: { method: 'POST', body: logo },
    },
    'delete /api/v1/admin/branding/logo': asked('/api/v1/admin/branding/logo'),
    'get /api/v1/admin/reports': asked('/api/v1/admin/reports?state=all'),
    'get /api/v1/admin/report/{id}': asked(`${first}`),
    'post /api/v1/admin/report/{id}/dismiss': asked(`${first}/dismiss`),
    'post /api/v1/admin/report/{id}/take-down': asked(`${second}/take-down`),
    'post /api/v1/admin/take-down': asked('/api/v1/admin/take-down', { file: (await put('three')).slug }),
    'get /api/v1/admin/refused': asked('/api/v1/admin/refused'),
    'delete /api/v1/admin/refused/{sha256}': asked(`/api/v1/admin/refused/${refused}`),
    'get /api/v1/admin/audit': asked('/api/v1/admin/audit'),
  }
}

const newVisitor = () => visitor(() => holdfast.url)

function json(body: object): BunFetchRequestInit {
  return { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
}

function location({ headers }: Answer): string {
  return headers.get('location') ?? ''
}

type Schema = Record<string, unknown>
const record = z.record(z.string(), z.unknown())

/** Calls `each` for every schema of a field or a parameter, with its place in the document. */
function eachSchema(node: unknown, each: (schema: Schema, where: string) => void, where = ''): void {
  const { success, data } = record.safeParse(node)
  if (!success) return
  if (typeof data.type === 'string' || Array.isArray(data.type)) each(data, where)
  for (const [key, value] of Object.entries(data)) {
    if (key === 'example') continue
    for (const item of Array.isArray(value) ? value : [value]) eachSchema(item, each, `${where}/${key}`)
  }
}

/** What cannot be guessed from the schema alone. */
function needsExample({ type, enum: values, const: value, format }: Schema): boolean {
  if (values !== undefined || value !== undefined || format === 'binary') return false
  const types = z.array(z.unknown()).parse(Array.isArray(type) ? type : [type])
  return types.includes('string') || types.includes('integer')
}

function withoutExample({ example: _, ...schema }: Schema): Schema {
  return schema
}
