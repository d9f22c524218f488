/**
 * What made links open: kinds of link × routes × callers × states. A target opens for whoever comes by the link and
 * nothing else does, whatever closes its folders, as long as the link is in force.
 */
// Only on a folder: generated: the rule is in the program; links.test.ts opens links of every kind on the cluster.
import { describe, expect, test } from 'bun:test'
import { MINUTE, timestamp } from '../../../../src/domain/clock.ts'
import type { FolderIdentifier } from '../../../../src/domain/ids.ts'
import { sampleOf } from '../../../support/cases.ts'
import { changeLink, linkedFile, makeLink, revokeLink } from '../../../support/clients/links.ts'
import {
  api,
  type Bytes,
  bearer,
  changeFolder,
  type Headers,
  makeFolder,
  passwordForm,
  randomBytes,
  type Uploaded,
  unlock,
  upload,
  visit,
} from '../../../support/clients/public.ts'
import { sessionHeaders, signedIn } from '../../../support/clients/site-visitor.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const stranger = (await host.addAccount('stranger')).apiKey
const callers: ReadonlyMap<string, Headers> = new Map([
  ['nobody', {}],
  ['another account', bearer(stranger)],
  ['somebody else signed in', sessionHeaders(await signedIn(host, 'stranger'))],
  ['the owner', bearer(key)],
  ['the owner signed in', sessionHeaders(await signedIn(host, 'owner'))],
])

/** All of them where their own rights differ most, and two of them elsewhere. */
function callersOf({ name }: State): readonly Headers[] {
  const [nobody = {}] = callers.values()
  return name === 'into a private folder' ? [...callers.values()] : [nobody, bearer(key)]
}

const NAME = 'quarterly-figures.png'
const PASSWORD = 'sesame'
/** Shorter than a signed address is good for. */
const LASTS = 20 * MINUTE
const KINDS = ['file', 'folder', 'bundle'] as const
type Kind = (typeof KINDS)[number]

/** `outer` has `secret` and `shared`, which has `file` and `sub` with `deep`. */
interface Tree {
  readonly outer: string
  readonly shared: string
  readonly file: Uploaded
  readonly deep: Uploaded
  readonly secret: Uploaded
  readonly numbers: { readonly outer: number; readonly shared: number; readonly sub: number }
}

interface Scene extends Tree {
  readonly kind: Kind
  readonly link: string
  /** Signed addresses of the file, from when everything was open. */
  readonly signed: readonly string[]
  /** Paths of the pages of `file` and `deep`. */
  readonly pages: { readonly file: string; readonly deep: string }
}

async function numberOf(identifier: string): Promise<number> {
  const row = await host.database
    .selectFrom('folders')
    .select('id')
    .where('identifier', '=', identifier as FolderIdentifier)
    .executeTakeFirstOrThrow()
  return row.id
}

const bytes: Bytes = randomBytes(2000)

async function tree(): Promise<Tree> {
  const outer = await makeFolder(host, key)
  const shared = await makeFolder(host, key, { parent: outer, name: 'Figures' })
  const sub = await makeFolder(host, key, { parent: shared, name: 'Deeper', public: 0, password: 'another' })
  return {
    outer,
    shared,
    file: await upload(host, { key, folder: shared, name: NAME, bytes }),
    deep: await upload(host, { key, folder: sub, name: 'deep.txt' }),
    secret: await upload(host, { key, folder: outer, name: 'secret.txt' }),
    numbers: {
      outer: await numberOf(outer),
      shared: await numberOf(shared),
      sub: await numberOf(sub),
    },
  }
}

async function scene(kind: Kind): Promise<Scene> {
  const things = await tree()
  const { file, shared } = things
  const targets = {
    file: { files: [file.slug] },
    folder: { folders: [shared] },
    bundle: { files: [(await upload(host, { key, name: 'loose.txt' })).slug], folders: [shared] },
  }
  const link = await makeLink(host, key, { ...targets[kind], ends_at: timestamp(host.clock.now() + LASTS) })
  const pages = {
    file: await linkedFile(host, link, file),
    deep: await linkedFile(host, link, things.deep),
  }
  const ways = ['download', 'view'].map((way) => visit(host, `${pages.file}?${way}=1`))
  const signed = (await Promise.all(ways)).map(({ headers }) => headers.get('location') ?? '')
  return { ...things, kind, link, signed, pages }
}

type Outcome = 'open' | 'LINK_NOT_FOUND' | 'LINK_ENDED' | 'PASSWORD_REQUIRED' | 'FILE_NOT_FOUND'

interface State {
  readonly name: string
  readonly change: (scene: Scene) => Promise<unknown>
  readonly outcome: Outcome
}

const states: readonly State[] = [
  { name: 'as it was made', change: async () => {}, outcome: 'open' },
  {
    name: 'into a private folder',
    change: ({ outer }) => changeFolder(host, key, outer, { public: 0 }),
    outcome: 'open',
  },
  {
    name: 'into a locked folder',
    change: ({ shared }) => changeFolder(host, key, shared, { password: 'other' }),
    outcome: 'open',
  },
  {
    name: 'locked',
    change: ({ link }) => changeLink(host, key, link, { password: PASSWORD }),
    outcome: 'PASSWORD_REQUIRED',
  },
  { name: 'revoked', change: ({ link }) => revokeLink(host, key, link), outcome: 'LINK_NOT_FOUND' },
  { name: 'over', change: async () => host.clock.advance(LASTS), outcome: 'LINK_ENDED' },
]

interface Probe {
  readonly name: string
  readonly kinds: readonly Kind[]
  readonly isPage: boolean
  readonly path: (scene: Scene) => string
  readonly init?: RequestInit
  readonly whenOpen: (response: Response, scene: Scene) => Promise<void>
}

const folders = ['folder', 'bundle'] as const

async function shows(response: Response, ...texts: readonly string[]): Promise<void> {
  expect(response.status).toBe(200)
  const html = await response.text()
  for (const text of texts) expect(html).toContain(text)
}

async function isBare(response: Response): Promise<void> {
  expect(response.status).toBe(200)
  expect(await response.text()).toBe('')
}

async function isWhole(response: Response): Promise<void> {
  expect(response.status).toBe(200)
  expect(await response.bytes()).toEqual(bytes)
}

async function leadsOn(response: Response): Promise<void> {
  expect(response.status).toBe(302)
  await isWhole(await visit(host, response.headers.get('location') ?? ''))
}

async function isZip(response: Response): Promise<void> {
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/zip')
  const text = await response.text()
  for (const name of [NAME, 'Deeper/deep.txt']) expect(text).toContain(name)
  expect(text).not.toContain('secret.txt')
}

const page = { isPage: true }
const content = { isPage: false }
const head = { method: 'HEAD' }

const probes: readonly Probe[] = [
  {
    name: 'page',
    kinds: ['file'],
    ...page,
    path: ({ link }) => `/l/${link}`,
    whenOpen: (of) => shows(of, NAME),
  },
  {
    name: 'page',
    kinds: ['folder'],
    ...page,
    path: ({ link }) => `/l/${link}`,
    whenOpen: (of) => shows(of, NAME, 'Deeper'),
  },
  {
    name: 'page',
    kinds: ['bundle'],
    ...page,
    path: ({ link }) => `/l/${link}`,
    whenOpen: (of) => shows(of, 'Figures', 'loose.txt'),
  },
  {
    name: 'HEAD of the page',
    kinds: KINDS,
    ...page,
    path: ({ link }) => `/l/${link}`,
    init: head,
    whenOpen: isBare,
  },
  {
    name: 'page of the file',
    kinds: KINDS,
    ...page,
    path: ({ pages }) => pages.file,
    whenOpen: (of) => shows(of, NAME),
  },
  {
    name: 'page of the folder',
    kinds: folders,
    ...page,
    path: ({ link, numbers }) => `/l/${link}/${numbers.shared}`,
    whenOpen: (of) => shows(of, NAME, 'Deeper'),
  },
  {
    name: 'page of a folder below',
    kinds: folders,
    ...page,
    path: ({ link, numbers }) => `/l/${link}/${numbers.sub}`,
    whenOpen: (of) => shows(of, 'deep.txt', 'Figures'),
  },
  {
    name: 'page of a file below',
    kinds: folders,
    ...page,
    path: ({ pages }) => pages.deep,
    whenOpen: (of) => shows(of, 'deep.txt', 'Deeper'),
  },
  {
    name: 'download of the link',
    kinds: ['file'],
    ...content,
    path: ({ link }) => `/l/${link}?download=1`,
    whenOpen: leadsOn,
  },
  {
    name: 'download of the file',
    kinds: KINDS,
    ...content,
    path: ({ pages }) => `${pages.file}?download=1`,
    whenOpen: leadsOn,
  },
  {
    name: 'view of the file',
    kinds: KINDS,
    ...content,
    path: ({ pages }) => `${pages.file}?view=1`,
    whenOpen: leadsOn,
  },
  {
    name: 'text of the file',
    kinds: KINDS,
    ...content,
    path: ({ pages }) => `${pages.file}?raw=1`,
    whenOpen: leadsOn,
  },
  {
    name: 'thumbnail',
    kinds: KINDS,
    ...content,
    path: ({ pages }) => `${pages.file}/thumbnail`,
    whenOpen: async (response) => {
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toStartWith('image/')
    },
  },
  { name: 'zip', kinds: folders, ...content, path: ({ link }) => `/l/${link}?download=zip`, whenOpen: isZip },
  {
    name: 'HEAD of the zip',
    kinds: folders,
    ...content,
    path: ({ link }) => `/l/${link}?download=zip`,
    init: head,
    whenOpen: isBare,
  },
  {
    name: 'a range of the zip of a folder',
    kinds: folders,
    ...content,
    path: ({ link, numbers }) => `/l/${link}/${numbers.sub}?download=zip`,
    init: { headers: { range: 'bytes=30-37' } },
    whenOpen: async (response) => {
      expect(response.status).toBe(206)
      expect(await response.text()).toBe('deep.txt')
    },
  },
  {
    name: 'signed download',
    kinds: KINDS,
    ...content,
    path: ({ signed }) => signed[0] ?? '',
    whenOpen: isWhole,
  },
  { name: 'signed view', kinds: KINDS, ...content, path: ({ signed }) => signed[1] ?? '', whenOpen: isWhole },
  {
    name: 'HEAD of signed bytes',
    kinds: KINDS,
    ...content,
    path: ({ signed }) => signed[0] ?? '',
    init: head,
    whenOpen: isBare,
  },
  {
    name: 'a range of signed bytes',
    kinds: KINDS,
    ...content,
    path: ({ signed }) => signed[0] ?? '',
    init: { headers: { range: 'bytes=10-19' } },
    whenOpen: async (response) => {
      expect(response.status).toBe(206)
      expect(await response.bytes()).toEqual(bytes.slice(10, 20))
    },
  },
]

const STATUS = { LINK_NOT_FOUND: 404, LINK_ENDED: 404, FILE_NOT_FOUND: 404, PASSWORD_REQUIRED: 403 }

async function ask(probe: Probe, at: Scene, headers: Headers): Promise<Response> {
  const { init = {} } = probe
  return visit(host, probe.path(at), { ...init, headers: { ...headers, ...init.headers } })
}

async function check(probe: Probe, outcome: Outcome, at: Scene, headers: Headers): Promise<void> {
  const response = await ask(probe, at, headers)
  expect(response.headers.get('cache-control')).toContain('private')
  if (outcome === 'open') return probe.whenOpen(response, at)
  const text = await response.text()
  for (const secret of [NAME, 'Figures', 'loose.txt', at.file.sha256]) expect(text).not.toContain(secret)
  const isForm = outcome === 'PASSWORD_REQUIRED' && probe.isPage
  expect(response.status).toBe(isForm ? 200 : STATUS[outcome])
  if (text === '') return
  if (isForm) return expect(passwordForm(text)?.action).toBe(`/l/${at.link}`)
  expect(JSON.parse(text)).toMatchObject({ error: outcome })
}

const kindsAndStates = KINDS.flatMap((kind) => states.map((state) => ({ kind, state, is: state.name })))

describe.each(kindsAndStates)('a link to a $kind, $is', ({ kind, state }) => {
  const asked = probes.filter(({ kinds }) => kinds.includes(kind))

  test(`is ${state.outcome} to all on every route`, async () => {
    const at = await scene(kind)
    await state.change(at)
    for (const headers of callersOf(state)) {
      for (const probe of sampleOf(asked)) await check(probe, state.outcome, at, headers)
    }
    if (state.outcome !== 'PASSWORD_REQUIRED') return
    const path = at.pages.file
    const visitor = await unlock(host, path, PASSWORD)
    for (const probe of asked.filter(({ name }) => !/signed/.test(name)))
      await (/download of|view of/.test(probe.name)
        ? expect((await ask(probe, at, visitor)).status).toBe(302)
        : check(probe, 'open', at, visitor))
    await changeLink(host, key, at.link, { password: 'another one' })
    await check(asked[0] as Probe, 'PASSWORD_REQUIRED', at, visitor)
  })
})

describe.each(KINDS)('a link to a %s opens nothing else', (kind) => {
  test('of the same account, of another one, or that is not there', async () => {
    const at = await scene(kind)
    await changeFolder(host, key, at.outer, { public: 0 })
    const other = await scene(kind)
    const foreign = await upload(host, { key: stranger })
    const nameOf = async (link: string, file: Uploaded) =>
      (await linkedFile(host, link, file)).slice(`/l/${link}/`.length)
    const foreignFolder = await numberOf(await makeFolder(host, stranger))
    const others = [
      await nameOf(at.link, at.secret),
      await nameOf(at.link, foreign),
      await nameOf(other.link, at.file),
      `${at.file.file_id}-${'0'.repeat(24)}`,
      at.file.file_id,
      at.file.uuid,
      at.numbers.outer,
      foreignFolder,
      999_999_999,
      0,
      'x',
      at.file.slug,
    ]
    const below = kind === 'file' ? [await nameOf(at.link, at.deep), at.numbers.shared, at.numbers.sub] : []
    for (const target of [...others, ...below]) {
      for (const rest of ['', '?download=1', '?view=1', '?raw=1', '?download=zip', '/report', '/thumbnail']) {
        for (const headers of kind === 'folder' ? [{}, bearer(key), bearer(stranger)] : [{}]) {
          const response = await visit(host, `/l/${at.link}/${target}${rest}`, { headers })
          expect([target, rest, response.status]).toEqual([target, rest, 404])
          expect(await response.text()).not.toContain('secret')
        }
      }
    }
  })

  test('and does not let in by the addresses that targets have without it', async () => {
    const at = await scene(kind)
    await changeFolder(host, key, at.outer, { public: 0 })
    await visit(host, `/l/${at.link}`)
    for (const path of [`/d/${at.file.slug}`, `/t/${at.file.uuid}`, `/f/${at.shared}`, `/f/${at.outer}`]) {
      expect((await visit(host, path)).status).toBe(404)
    }
    const html = await (await visit(host, `/l/${at.link}`)).text()
    for (const address of [at.file.slug, at.shared, at.outer, '/d/', '/f/', '/t/'])
      expect(html).not.toContain(address)
  })
})

test('a signed address of a link opens that file alone, and not without the link', async () => {
  const at = await scene('folder')
  const [address = ''] = at.signed
  const [name = '', deep = ''] = [at.pages.file, at.pages.deep].map((path) => path.split('/').at(-1))
  expect(address).toContain(name)
  expect((await visit(host, address.replace(name, deep))).status).toBe(403)
  await api(host, key, 'POST', '/api/v1/file/move', { file: at.file.slug, folder: at.outer })
  const moved = await visit(host, address)
  expect([moved.status, await moved.json()]).toMatchObject([404, { error: 'FILE_NOT_FOUND' }])
})

test('a signed address ends with the password that it was signed with, and comes back without one', async () => {
  const at = await scene('file')
  const visitorOf = async (password: string) => {
    await changeLink(host, key, at.link, { password })
    return unlock(host, `/l/${at.link}`, password)
  }
  const headers = await visitorOf('first')
  const location = (await visit(host, `/l/${at.link}?download=1`, { headers })).headers.get('location') ?? ''
  expect((await visit(host, location)).status).toBe(200)
  await visitorOf('second')
  expect((await visit(host, location)).status).toBe(403)
  await changeLink(host, key, at.link, { password: null })
  expect((await visit(host, location)).status).toBe(200)
})

test('a link of which nothing is left answers as one that nobody made, in JSON and as a page', async () => {
  const loose = await upload(host, { key, name: NAME })
  const link = await makeLink(host, key, { files: [loose.uuid], name: 'Quarterly' })
  await api(host, key, 'POST', '/file/delete', { identifiers: [loose.uuid] })
  const answers: string[] = []
  for (const slug of [link, 'zzzzzzzzzzzzzzzz', 'a', 'Not-a-Slug', '%00']) {
    for (const accept of ['application/json', 'text/html']) {
      const response = await visit(host, `/l/${slug}`, { headers: { accept } })
      answers.push(`${accept} ${response.status} ${await response.text()}`)
    }
  }
  expect(new Set(answers).size).toBe(2)
  expect(answers[0]).toContain('LINK_NOT_FOUND')
})

test('what came into a folder later is opened too, and what left it is not', async () => {
  const at = await scene('folder')
  const later = await upload(host, { key, folder: at.shared, name: 'later.txt' })
  expect((await visit(host, await linkedFile(host, at.link, later))).status).toBe(200)
  await api(host, key, 'POST', '/api/v1/file/move', { file: later.slug, folder: 'root' })
  expect((await visit(host, await linkedFile(host, at.link, later))).status).toBe(404)
})

test('views by a link count for visitors and not for the owner', async () => {
  const at = await scene('file')
  for (const headers of [{}, bearer(stranger), bearer(key)]) await visit(host, `/l/${at.link}`, { headers })
  await host.runJobs()
  const { body } = await api(host, key, 'GET', `/api/v1/file/${at.file.slug}`)
  expect(body).toMatchObject({ data: { views: 2 } })
})

test('guesses at the password of a link are limited as those of a folder are', async () => {
  const at = await scene('file')
  await changeLink(host, key, at.link, { password: PASSWORD })
  const guess = (password: string) =>
    visit(host, `/l/${at.link}`, { method: 'POST', body: new URLSearchParams({ password }) })
  const wrong = await guess('wrong')
  expect([wrong.status, await wrong.text()]).toEqual([200, expect.stringContaining('Wrong password')])
  for (let tries = 1; tries < 10; tries++) await guess('wrong')
  expect((await guess(PASSWORD)).status).toBe(429)
  host.clock.advance(16 * MINUTE)
  expect((await guess(PASSWORD)).status).toBe(303)
})

test('a password form leads back to the page of its link, and nowhere else', async () => {
  const at = await scene('folder')
  await changeLink(host, key, at.link, { password: PASSWORD })
  const next = async (path: string) => {
    const body = new URLSearchParams({ password: PASSWORD, next: path })
    return (await visit(host, `/l/${at.link}`, { method: 'POST', body })).headers.get('location')
  }
  const own = `/l/${at.link}`
  expect(await next(`${own}/${at.file.uuid}`)).toBe(`${own}/${at.file.uuid}`)
  for (const path of ['//elsewhere.example', '/l/another', `${own}//elsewhere`, `${own}/../../d/x`, '/files'])
    expect(await next(path)).toBe(own)
})
