/**
 * What made links tell, tried everywhere: every address and every value like an identifier in what a link's pages, headers,
 * redirects, JSON and tokens say, decoded as far as it can be, opens nothing of the content without the link.
 */
// Only in test:all: generated: link-access.test.ts has the rule.
import { describe, expect, test } from 'bun:test'
import { MINUTE, timestamp } from '../../../../src/domain/clock.ts'
import { type LinkFields, makeLink, revokeLink } from '../../../support/clients/links.ts'
import { elements, type Headers, makeFolder, unlock, upload, visit } from '../../../support/clients/public.ts'
import { decided } from '../../../support/clients/thumbnails.ts'
import { picture } from '../../../support/contents/pictures.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()

const PASSWORD = 'sesame'
const LASTS = 20 * MINUTE
const NAME = 'quarterly-figures.png'
const BOX = 'box-of-the-board'
const IMAGE = await picture('png', 2400, 1200)
const PLAIN = Buffer.from(await (await visit(host, '/card.jpg')).bytes())
const VISITOR: Headers = { 'user-agent': 'Visitor/1' }

const KINDS = ['file', 'folder', 'bundle'] as const
type Kind = (typeof KINDS)[number]

interface Scene {
  readonly kind: Kind
  readonly link: string
  /** Another link of the same account, to something else. */
  readonly other: string
}

const TERMS = {
  'without terms': {},
  'with a password': { password: PASSWORD },
  'with one download': { max_downloads: 1 },
  'with a password and one download': { password: PASSWORD, max_downloads: 1 },
} satisfies Record<string, LinkFields>

/** Everything lies open, so that whoever knows a slug, a UUID or an identifier gets in. */
async function scene(kind: Kind, terms: LinkFields): Promise<Scene> {
  const folder = await makeFolder(host, key, { name: BOX, parent: await makeFolder(host, key) })
  const file = await upload(host, { key, folder, name: NAME, bytes: IMAGE })
  await upload(host, { key, folder, name: 'beside.png', bytes: IMAGE })
  const loose = await upload(host, { key, name: 'loose.txt' })
  await decided(host, key, file)
  const targets = {
    file: { files: [file.uuid] },
    folder: { folders: [folder] },
    bundle: { files: [file.uuid, loose.uuid] },
  }[kind]
  const link = await makeLink(host, key, {
    ...targets,
    ...terms,
    ends_at: timestamp(host.clock.now() + LASTS),
  })
  return { kind, link, other: await makeLink(host, key, { files: [loose.uuid] }) }
}

/** Texts of an answer: its address, its headers, and its body where that is text. */
async function said(response: Response): Promise<readonly string[]> {
  const isText = /text|json|xml/.test(response.headers.get('content-type') ?? '')
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  const body = isText ? await response.text() : ''
  if (!isText) await response.body?.cancel()
  return [...headers, body]
}

/** What a browser and a curious person find: all pages and addresses below the link, followed as far as they lead. */
async function told(link: string, headers: Headers): Promise<readonly string[]> {
  const texts = new Set<string>()
  const queue = [`/l/${link}`]
  const asked = new Set(queue)
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    for (const [method, accept] of [
      ['GET', 'text/html'],
      ['HEAD', '*/*'],
      ['GET', 'application/json'],
    ] as const) {
      const response = await visit(host, path, { method, headers: { ...headers, accept } })
      for (const text of await said(response)) texts.add(text)
    }
    const html = await (await visit(host, path, { headers: { ...headers, accept: 'text/html' } })).text()
    for (const address of addressesIn(html)) {
      const { pathname, search } = new URL(address, `${host.url}${path}`)
      const isBytes = pathname.startsWith('/v2/') || search.includes('download=zip')
      if (!pathname.startsWith(`/l/${link}`) || isBytes || asked.has(pathname + search)) continue
      asked.add(pathname + search)
      queue.push(pathname + search)
    }
  }
  // Redirects of the bytes, which are not followed.
  for (const path of [...asked].filter((text) => !text.includes('?'))) {
    for (const way of ['download=1', 'view=1', 'raw=1']) {
      for (const text of await said(await visit(host, `${path}?${way}`, { headers }))) texts.add(text)
    }
  }
  return [...texts]
}

function addressesIn(html: string): readonly string[] {
  const attributes = ['href', 'src', 'action', 'formaction', 'poster', 'content', 'data-opens', 'srcset']
  const found = attributes.flatMap((name) =>
    elements(html, `[${name}]`).map(({ attributes: of }) => of[name] ?? ''),
  )
  return found.filter((text) => /^(https?:\/\/|\/)/.test(text))
}

/** The text, and what is encoded in it: in base64, and then as JSON or text. */
function decoded(text: string, depth = 0): readonly string[] {
  if (depth > 3) return [text]
  const inside = (text.match(/[A-Za-z0-9_+/-]{8,}={0,2}/g) ?? []).flatMap((part) => {
    const plain = Buffer.from(part, 'base64url').toString('utf8')
    return /^[\x20-\x7e\s]{4,}$/.test(plain) ? decoded(plain, depth + 1) : []
  })
  return [text, ...inside]
}

const json = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

type Asked = readonly [path: string, init: RequestInit]

/** Shapes of values, and the requests that would open something by one of them, were it a key to that. */
const SHAPES: readonly (readonly [RegExp, (value: string, other: string) => readonly Asked[]])[] = [
  [
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi,
    (uuid, other) => [
      ...['', '?size=960', '?size=large'].map((size): Asked => [`/t/${uuid}${size}`, {}]),
      [`/d/${uuid}`, {}],
      [`/l/${other}/${uuid}`, {}],
      [`/api/v1/file/${uuid}`, {}],
    ],
  ],
  [
    /\b[A-Za-z][A-Za-z0-9]{11}\b/g,
    (slug) => [
      ...['', '?download=1', '?view=1', '?raw=1'].map((way): Asked => [`/d/${slug}${way}`, {}]),
      ['/v2/api/public/download', json({ file_slug: slug })],
      ['/v2/api/public/view', json({ file_slug: slug })],
    ],
  ],
  [
    /\b[a-z][a-z0-9]{15}\b/g,
    (folder) => [
      [`/f/${folder}`, {}],
      [`/f/${folder}?download=zip`, {}],
      ['/v2/api/public/folder', json({ folder })],
      [`/l/${folder}`, {}],
    ],
  ],
  [
    /\b\d+(-[0-9a-f]{8,})?\b/g,
    (name, other) =>
      ['', '?download=1', '?download=zip', '/thumbnail?size=large', '/report'].map(
        (rest): Asked => [`/l/${other}/${name}${rest}`, {}],
      ),
  ],
  [
    /[\w.-]{24,}/g,
    (text) => [
      [`/r/${text}`, {}],
      [`/t/${text}`, {}],
      [`/d/${text}`, {}],
      [`/api/v1/receipt/${text}`, {}],
    ],
  ],
]

function requestsFor(texts: readonly string[], common: ReadonlySet<string>, other: string): readonly Asked[] {
  return SHAPES.flatMap(([shape, requests]) =>
    [...new Set(texts.flatMap((text) => text.match(shape) ?? []))]
      .filter((value) => !common.has(value) && value !== other)
      .flatMap((value) => requests(value, other)),
  )
}

/** Whether the answer, or what it leads to, has something of the content: bytes, a picture of it, or a name. */
async function opens(path: string, init: RequestInit): Promise<boolean> {
  const response = await visit(host, path, { redirect: 'manual', ...init })
  if (response.status >= 500) throw new Error(`${path} answered ${response.status}`)
  const location = response.headers.get('location')
  if (location !== null) {
    await response.body?.cancel()
    return location.includes('/v2/') || location.includes('token=') ? opens(location, {}) : false
  }
  const type = response.headers.get('content-type') ?? ''
  const bytes = Buffer.from(await response.bytes())
  // The picture for all that shows none says nothing.
  if (PLAIN.equals(bytes)) return false
  if (/image\/(webp|png|jpeg)/.test(type) || type === 'application/zip') return true
  return bytes.includes(NAME) || bytes.includes('beside.png') || bytes.includes('"token"')
}

interface State {
  readonly name: string
  readonly isFor: (terms: LinkFields) => boolean
  readonly change: (scene: Scene) => Promise<unknown>
  /** Whether signed addresses, which open for whoever has them, must open nothing either. */
  readonly isOver: boolean
}

const states: readonly State[] = [
  {
    name: 'without the cookie of its password',
    isFor: ({ password }) => password !== undefined,
    change: async () => {},
    isOver: false,
  },
  {
    name: 'once its downloads are used up',
    isFor: ({ max_downloads: max, password }) => max !== undefined && password === undefined,
    change: async ({ link, kind }) => {
      const headers = { 'user-agent': 'Somebody/1' }
      const way = kind === 'file' ? '1' : 'zip'
      const first = await visit(host, `/l/${link}?download=${way}`, { headers })
      const location = first.headers.get('location')
      const answer = location === null ? first : await visit(host, location, { headers })
      expect(answer.status).toBe(200)
      await answer.bytes()
    },
    isOver: true,
  },
  { name: 'after its end', isFor: () => true, change: async () => host.clock.advance(LASTS), isOver: true },
  {
    name: 'after it was revoked',
    isFor: () => true,
    change: ({ link }) => revokeLink(host, key, link),
    isOver: true,
  },
]

const cases = KINDS.flatMap((kind) =>
  Object.entries(TERMS).flatMap(([are, terms]: readonly [string, LinkFields]) =>
    states
      .filter(({ isFor }) => isFor(terms))
      .map((state) => ({ kind, are, terms, state, when: state.name })),
  ),
)

describe.each(cases)('what a link to a $kind $are tells', ({ kind, terms, state }) => {
  test(`opens nothing ${state.name}, and nothing by another link`, async () => {
    const at = await scene(kind, terms)
    const visitor =
      typeof terms.password !== 'string'
        ? VISITOR
        : { ...VISITOR, ...(await unlock(host, `/l/${at.link}`, terms.password)) }
    const texts = await told(at.link, visitor)
    const all = [...new Set(texts.flatMap((text) => decoded(text)))]
    expect(all.join()).toContain(NAME)
    expect(all.join().includes(BOX)).toBe(kind === 'folder')
    const common = new Set((await told(at.other, VISITOR)).flatMap((text) => text.match(/[\w-]+/g) ?? []))
    await state.change(at)
    const isSigned = (address: string) => address.includes('/v2/')
    const addresses = [...new Set(texts.flatMap((text) => addressesIn(text)))].filter((address) => {
      const { origin, pathname } = new URL(address, host.url)
      return origin === new URL(host.url).origin && !pathname.startsWith('/assets/')
    })
    const asked: readonly Asked[] = [
      ...addresses
        .filter((address) => state.isOver || !isSigned(address))
        .map((address): Asked => [address, {}]),
      ...texts
        .flatMap((text) => /^location: (.*)$/.exec(text)?.[1] ?? [])
        .filter((address) => state.isOver || !isSigned(address))
        .map((address): Asked => [address, {}]),
      ...requestsFor(all, common, at.other),
    ]
    expect(asked.length).toBeGreaterThan(10)
    const open: string[] = []
    for (const [path, init] of asked) {
      if (await opens(path, init)) open.push(path)
    }
    expect(open).toEqual([])
  })
})
