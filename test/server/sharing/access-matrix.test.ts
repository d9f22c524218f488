import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { DAY, MINUTE } from '../../../src/domain/clock.ts'
import type { Route } from '../../../src/server/router.ts'
import { routes } from '../../../src/server/routes.ts'
import { sampleOf } from '../../support/cases.ts'
import {
  askPublic,
  askSigned,
  type Bytes,
  bearer,
  changeFolder,
  deleteFile,
  GENEROUS,
  type Headers,
  makeFolder,
  passwordForm,
  randomBytes,
  signedAddress,
  type Uploaded,
  unlock,
  upload,
  visit,
} from '../../support/clients/public.ts'
import { sessionHeaders, signedIn } from '../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { ABOUT_PEOPLE } from '../../support/sign-in/routes-about-people.ts'

const NAME = 'quarterly-figures.png'
const PASSWORD = 'sesame'

/** Grandparent, parent and the folder with the file, and the addresses signed while everything was open. */
interface Scene {
  readonly host: TestHoldfast
  readonly ownerKey: string
  readonly grandparent: string
  readonly folder: string
  readonly file: Uploaded
  readonly bytes: Bytes
  signed: { download: string; view: string }
}

type Outcome = 'open' | 'hidden' | 'locked' | 'gone'

interface State {
  readonly name: string
  readonly change: (scene: Scene) => Promise<void>
  /** What everybody but the owner gets. */
  readonly others: Outcome
  readonly owner: Outcome
}

const open = { owner: 'open' } as const
const gone = { owner: 'gone', others: 'gone' } as const
const states: readonly State[] = [
  { name: 'public', change: async () => {}, others: 'open', ...open },
  {
    name: 'private',
    change: ({ host, ownerKey, folder }) => changeFolder(host, ownerKey, folder, { public: 0 }),
    others: 'hidden',
    ...open,
  },
  {
    name: 'in a private grandparent',
    change: ({ host, ownerKey, grandparent }) => changeFolder(host, ownerKey, grandparent, { public: 0 }),
    others: 'hidden',
    ...open,
  },
  {
    name: 'locked',
    change: ({ host, ownerKey, folder }) => changeFolder(host, ownerKey, folder, { password: PASSWORD }),
    others: 'locked',
    ...open,
  },
  {
    name: 'in a locked grandparent',
    change: ({ host, ownerKey, grandparent }) =>
      changeFolder(host, ownerKey, grandparent, { password: PASSWORD }),
    others: 'locked',
    ...open,
  },
  {
    name: 'private and locked',
    change: ({ host, ownerKey, folder }) =>
      changeFolder(host, ownerKey, folder, { public: 0, password: PASSWORD }),
    others: 'hidden',
    ...open,
  },
  {
    name: 'locked in a private grandparent',
    change: async ({ host, ownerKey, folder, grandparent }) => {
      await changeFolder(host, ownerKey, folder, { password: PASSWORD })
      await changeFolder(host, ownerKey, grandparent, { public: 0 })
    },
    others: 'hidden',
    ...open,
  },
  {
    name: 'expired',
    change: async (scene) => {
      scene.host.clock.advance(45 * DAY - 10 * MINUTE)
      scene.signed = await signBoth(scene.host, scene.file)
      scene.host.clock.advance(12 * MINUTE)
      await scene.host.runJobs()
    },
    ...gone,
  },
  { name: 'deleted', change: ({ host, ownerKey, file }) => deleteFile(host, ownerKey, file.slug), ...gone },
]

async function signBoth(host: TestHoldfast, file: Uploaded): Promise<Scene['signed']> {
  return { download: await signedAddress(host, file), view: await signedAddress(host, file, 'view') }
}

/** One public route asked in one way. */
interface Probe {
  readonly name: string
  /** Method and pattern, as the route table has them with names left out. */
  readonly route: string
  /** A page shows its form where others refuse; what is of the folder outlives the file. */
  readonly kind: 'page' | 'folder page' | 'folder zip' | 'content' | 'folder content'
  readonly ask: (scene: Scene, headers: Headers) => Promise<Response>
  /** What the answer is when nothing stands in the way. */
  readonly whenOpen: (response: Response, scene: Scene) => Promise<void>
}

async function shows(response: Response, text: string): Promise<void> {
  expect(response.status).toBe(200)
  expect(await response.text()).toContain(text)
}

async function isBare(response: Response): Promise<void> {
  expect(response.status).toBe(200)
  expect(await response.text()).toBe('')
}

async function isWhole(response: Response, { bytes }: Scene): Promise<void> {
  expect(response.status).toBe(200)
  expect(await response.bytes()).toEqual(bytes)
}

async function isZip(response: Response): Promise<void> {
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/zip')
  expect(await response.text()).toContain(NAME)
}

async function isSigned(response: Response, { file }: Scene): Promise<void> {
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ success: true, file: `${file.uuid}.png`, name: NAME })
}

async function isImage(response: Response): Promise<void> {
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toStartWith('image/')
  await response.bytes()
}

async function isRedirect(response: Response): Promise<void> {
  expect(response.status).toBe(302)
}

let addresses = 0

/** There are more viewers here than one address may send reports in an hour. */
function anotherAddress(): Headers {
  addresses += 1
  return { 'x-forwarded-for': `198.51.100.${addresses % 256}` }
}

const probes: readonly Probe[] = [
  {
    name: 'page',
    route: 'get /d/{}',
    kind: 'page',
    ask: ({ host, file }, headers) => visit(host, `/d/${file.slug}`, { headers }),
    whenOpen: (response) => shows(response, NAME),
  },
  {
    name: 'HEAD of the page',
    route: 'get /d/{}',
    kind: 'page',
    ask: ({ host, file }, headers) => visit(host, `/d/${file.slug}`, { method: 'HEAD', headers }),
    whenOpen: isBare,
  },
  {
    name: 'folder page',
    route: 'get /f/{}',
    kind: 'folder page',
    ask: ({ host, folder }, headers) => visit(host, `/f/${folder}`, { headers }),
    whenOpen: (response) => shows(response, NAME),
  },
  {
    name: 'HEAD of the folder page',
    route: 'get /f/{}',
    kind: 'folder page',
    ask: ({ host, folder }, headers) => visit(host, `/f/${folder}`, { method: 'HEAD', headers }),
    whenOpen: isBare,
  },
  {
    name: 'folder as a zip',
    route: 'get /f/{}',
    kind: 'folder zip',
    ask: ({ host, folder }, headers) => visit(host, `/f/${folder}?download=zip`, { headers }),
    whenOpen: (response) => isZip(response),
  },
  {
    name: 'HEAD of the folder as a zip',
    route: 'get /f/{}',
    kind: 'folder zip',
    ask: ({ host, folder }, headers) => visit(host, `/f/${folder}?download=zip`, { method: 'HEAD', headers }),
    whenOpen: isBare,
  },
  {
    name: 'a range of the folder as a zip',
    route: 'get /f/{}',
    kind: 'folder zip',
    ask: ({ host, folder }, headers) =>
      visit(host, `/f/${folder}?download=zip`, { headers: { ...headers, range: 'bytes=30-49' } }),
    whenOpen: async (response) => {
      expect(response.status).toBe(206)
      expect(await response.text()).toBe(NAME.slice(0, 20))
    },
  },
  {
    name: 'folder for programs',
    route: 'post /v2/api/public/folder',
    kind: 'folder content',
    ask: ({ host, folder }, headers) => askPublic(host, '/v2/api/public/folder', { folder }, headers),
    whenOpen: async (response, { file }) => {
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({
        pages: 1,
        folders: [],
        files: [{ slug: file.slug, name: NAME, size: 2000 }],
      })
    },
  },
  {
    name: 'download link',
    route: 'get /d/{}',
    kind: 'content',
    ask: ({ host, file }, headers) => visit(host, `/d/${file.slug}?download=1`, { headers }),
    whenOpen: isRedirect,
  },
  {
    name: 'HEAD of the download link',
    route: 'get /d/{}',
    kind: 'content',
    ask: ({ host, file }, headers) => visit(host, `/d/${file.slug}?download=1`, { method: 'HEAD', headers }),
    whenOpen: isRedirect,
  },
  {
    name: 'signing a download',
    route: 'post /v2/api/public/download',
    kind: 'content',
    ask: ({ host, file }, headers) => askSigned(host, 'download', { file_slug: file.slug }, headers),
    whenOpen: isSigned,
  },
  {
    name: 'signing a view',
    route: 'post /v2/api/public/view',
    kind: 'content',
    ask: ({ host, file }, headers) => askSigned(host, 'view', { file_slug: file.slug }, headers),
    whenOpen: isSigned,
  },
  {
    name: 'bytes',
    route: 'get /v2/{}',
    kind: 'content',
    ask: ({ host, signed }, headers) => visit(host, signed.download, { headers }),
    whenOpen: isWhole,
  },
  {
    name: 'HEAD of the bytes',
    route: 'get /v2/{}',
    kind: 'content',
    ask: ({ host, signed }, headers) => visit(host, signed.download, { method: 'HEAD', headers }),
    whenOpen: async (response, { bytes }) => {
      expect(response.headers.get('content-length')).toBe(String(bytes.length))
      await isBare(response)
    },
  },
  {
    name: 'a range of the bytes',
    route: 'get /v2/{}',
    kind: 'content',
    ask: ({ host, signed }, headers) =>
      visit(host, signed.download, { headers: { ...headers, range: 'bytes=10-19' } }),
    whenOpen: async (response, { bytes }) => {
      expect(response.status).toBe(206)
      expect(await response.bytes()).toEqual(bytes.slice(10, 20))
    },
  },
  {
    name: 'a range past the end',
    route: 'get /v2/{}',
    kind: 'content',
    ask: ({ host, signed }, headers) =>
      visit(host, signed.download, { headers: { ...headers, range: 'bytes=9999-' } }),
    whenOpen: async (response) => {
      expect(response.status).toBe(416)
    },
  },
  {
    name: 'bytes that the browser says it has',
    route: 'get /v2/{}',
    kind: 'content',
    ask: ({ host, signed }, headers) =>
      visit(host, signed.download, { headers: { ...headers, 'if-none-match': '*' } }),
    whenOpen: async (response) => {
      expect(response.status).toBe(304)
    },
  },
  {
    name: 'bytes for viewing',
    route: 'get /v2/{}',
    kind: 'content',
    ask: ({ host, signed }, headers) => visit(host, signed.view, { headers }),
    whenOpen: isWhole,
  },
  {
    name: 'report page',
    route: 'get /d/{}/report',
    kind: 'page',
    ask: ({ host, file }, headers) => visit(host, `/d/${file.slug}/report`, { headers }),
    whenOpen: (response) => shows(response, NAME),
  },
  {
    name: 'reporting by form',
    route: 'post /d/{}/report',
    kind: 'content',
    ask: ({ host, file }, headers) =>
      visit(host, `/d/${file.slug}/report`, {
        method: 'POST',
        headers: { ...headers, ...anotherAddress() },
        body: new URLSearchParams({ reason: 'other' }),
      }),
    whenOpen: async (response, { file }) => shows(response, `/d/${file.slug}`),
  },
  {
    name: 'reporting',
    route: 'post /api/v1/file/report',
    kind: 'content',
    ask: ({ host, file }, headers) =>
      askPublic(
        host,
        '/api/v1/file/report',
        { slug: file.slug, reason: 'other' },
        { ...headers, ...anotherAddress() },
      ),
    whenOpen: async (response) => {
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ success: true })
    },
  },
  {
    name: 'thumbnail',
    route: 'get /t/{}',
    kind: 'content',
    ask: ({ host, file }, headers) => visit(host, `/t/${file.uuid}`, { headers }),
    whenOpen: isImage,
  },
  {
    name: 'HEAD of the thumbnail',
    route: 'get /t/{}',
    kind: 'content',
    ask: ({ host, file }, headers) => visit(host, `/t/${file.uuid}`, { method: 'HEAD', headers }),
    whenOpen: isImage,
  },
  {
    name: 'preview for chats',
    route: 'get /d/{}/card.jpg',
    kind: 'content',
    ask: ({ host, file }, headers) => visit(host, `/d/${file.slug}/card.jpg`, { headers }),
    whenOpen: isRedirect,
  },
  {
    name: 'description for embedding',
    route: 'get /oembed',
    kind: 'content',
    ask: ({ host, file }, headers) =>
      visit(host, `/oembed?url=${encodeURIComponent(`${host.url}/d/${file.slug}`)}`, { headers }),
    whenOpen: (response) => shows(response, 'provider_name'),
  },
]

/** Public routes that show nothing of any file, or that have a suite of their own. */
const elsewhere = new Map([
  ['get /', 'start page'],
  ['post /', 'file-page.test.ts'],
  ['get /health', 'liveness'],
  ['get /ready', 'readiness'],
  ['get /api/v1/probe', 'doctor.test.ts'],
  ['put /api/v1/probe', 'doctor.test.ts'],
  ['patch /api/v1/probe', 'doctor.test.ts'],
  ['get /metrics', 'metrics.test.ts'],
  ['get /docs', 'of nobody'],
  ['get /docs/{}', 'of nobody'],
  ['get /branding/{}', 'of the operator'],
  ['get /legal/{}', 'of the operator'],
  ['get /{}', 'files of the site, of nobody'],
  ['get /api/v1/openapi.json', 'the document'],
  ['get /api/v1/notice', 'what everybody is told'],
  ['post /api/v1/upload', 'authorization-matrix.test.ts'],
  ['put /api/v1/upload/{}', 'authorization-matrix.test.ts'],
  ['put /{}', 'authorization-matrix.test.ts'],
  ['put /', 'authorization-matrix.test.ts'],
  ['get /api/v1/receipt/{}', 'receipts.test.ts'],
  ['patch /api/v1/receipt/{}', 'receipts.test.ts'],
  ['delete /api/v1/receipt/{}', 'receipts.test.ts'],
  ['get /api/v1/receipt/{}/log', 'guest-links.test.ts'],
  ['get /r/{}', 'receipts.test.ts'],
  ['post /r/{}', 'receipts.test.ts'],
  ['options /api/v1/uploads', 'what the protocol is'],
  ['options /api/v1/uploads/{}', 'what the protocol is'],
  ['post /api/v1/uploads', 'tus-creation.test.ts'],
  ['patch /api/v1/uploads/{}', 'tus-turns.test.ts'],
  ['get /api/v1/uploads/{}', 'tus-turns.test.ts'],
  ['post /api/v1/uploads/{}', 'tus-core.test.ts'],
  ['delete /api/v1/uploads/{}', 'tus-turns.test.ts'],
  ['post /f/{}', 'folder-password.test.ts'],
  ['get /l/{}', 'link-access.test.ts'],
  ['post /l/{}', 'link-access.test.ts'],
  ['get /l/{}/{}', 'link-access.test.ts'],
  ['post /l/{}/{}', 'link-claims.test.ts'],
  ['put /l/{}', 'upload-links.test.ts'],
  ['put /l/{}/{}', 'upload-links.test.ts'],
  ['post /api/v1/receipts/link', 'guest-links.test.ts'],
  ['post /api/v1/transfers', 'transfers.test.ts'],
  ['post /api/v1/links/{}/upload', 'upload-links.test.ts'],
  ['post /api/v1/links/{}/uploads', 'upload-links.test.ts'],
  ['get /l/{}/{}/thumbnail', 'link-access.test.ts'],
  ['get /r/{}/{}/thumbnail', 'transfers.test.ts'],
  ['get /api/v1/receipt/{}/files', 'transfers.test.ts'],
  ['get /f/{}/card.jpg', 'cards.test.ts'],
  ['get /l/{}/{}/card.jpg', 'cards.test.ts'],
  ['get /l/{}/{}/report', 'link-access.test.ts'],
  ['post /l/{}/{}/report', 'report-page.test.ts'],
  ['get /z/{}', 'zip-access.test.ts'],
])

const failure = z.object({ success: z.literal(false), message: z.string(), error: z.string() })

/** Nothing in the answer tells what the file is. */
function tellsNothing(text: string, { file }: Scene): void {
  for (const secret of [NAME, 'quarterly', file.sha256]) expect(text).not.toContain(secret)
}

async function check(probe: Probe, outcome: Outcome, scene: Scene, headers: Headers): Promise<void> {
  const response = await probe.ask(scene, headers)
  expect(response.headers.get('cache-control')).toContain('private')
  if (outcome === 'open') return probe.whenOpen(response, scene)
  const text = await response.text()
  tellsNothing(text, scene)
  const headless = text === ''
  if (outcome === 'gone' && probe.kind.startsWith('folder')) {
    // The folder is empty: there is its page, and an empty zip, in which no range begins at byte 30.
    return expect(response.status).toBe(response.headers.has('content-range') ? 416 : 200)
  }
  if (outcome !== 'locked') return expect(response.status).toBe(404)
  if (probe.kind === 'page' || probe.kind === 'folder page') {
    expect(response.status).toBe(200)
    expect(text).not.toContain(scene.file.uuid)
    if (!headless) expect(passwordForm(text)).not.toBeNull()
    return
  }
  expect(response.status).toBe(403)
  if (!headless) expect(failure.parse(JSON.parse(text)).error).toBe('PASSWORD_REQUIRED')
}

const NOT_THE_OWNER = [
  'nobody',
  'another account',
  'a key that nobody has',
  'a revoked key of the owner',
  'no key at all in the header',
  'a made-up cookie',
  'a session of the owner that was ended',
  'somebody else signed in',
]

describe.each(states)('a file that is $name', (state) => {
  let scene: Scene
  const viewers = new Map<string, Headers>()

  beforeAll(async () => {
    const host = await startHoldfast({ ...GENEROUS, trustedProxies: ['127.0.0.1', '::1'] })
    const ownerKey = (await host.addAccount('owner')).apiKey
    const revoked = await host.addKey('owner')
    await host.revokeKey(revoked)
    const grandparent = await makeFolder(host, ownerKey)
    const parent = await makeFolder(host, ownerKey, { parent: grandparent })
    const folder = await makeFolder(host, ownerKey, { parent })
    const bytes = randomBytes(2000)
    const file = await upload(host, { key: ownerKey, name: NAME, folder, bytes })
    scene = { host, ownerKey, grandparent, folder, file, bytes, signed: await signBoth(host, file) }
    await state.change(scene)
    viewers.set('nobody', {})
    viewers.set('another account', bearer((await host.addAccount('stranger')).apiKey))
    viewers.set('a key that nobody has', bearer(`hf_${[...ownerKey.slice(3)].reverse().join('')}`))
    viewers.set('a revoked key of the owner', bearer(revoked))
    viewers.set('no key at all in the header', { authorization: 'Bearer' })
    viewers.set('a made-up cookie', { cookie: `folder_access_token=${folder}` })
    viewers.set('the owner', bearer(ownerKey))
    viewers.set('a session of the owner that was ended', sessionHeaders(await signedIn(host, 'owner')))
    viewers.set('the owner signed in', sessionHeaders(await signedIn(host, 'owner')))
    viewers.set('somebody else signed in', sessionHeaders(await signedIn(host, 'stranger')))
    if (state.others === 'locked') {
      viewers.set('a visitor with the password', await unlock(host, `/d/${file.slug}`, PASSWORD))
    }
  })

  afterAll(async () => {
    await scene.host.stop()
  })

  const cases = probes.flatMap((probe) => [
    ...NOT_THE_OWNER.map((viewer) => ({ probe, viewer, outcome: state.others })),
    ...['the owner', 'the owner signed in'].map((viewer) => ({ probe, viewer, outcome: state.owner })),
    ...(state.others === 'locked'
      ? [{ probe, viewer: 'a visitor with the password', outcome: 'open' as const }]
      : []),
  ])

  test.each(sampleOf(cases).map((row) => ({ ...row, label: row.probe.name })))(
    'is $outcome to $viewer: $label',
    async ({ probe, viewer, outcome }) => {
      const headers = viewers.get(viewer)
      if (headers === undefined) throw new Error(`no viewer ${viewer}`)
      await check(probe, outcome, scene, headers)
    },
  )

  test.if(state.others !== 'open')('refuses a browser with a page, where a program gets JSON', async () => {
    const { host, file, signed } = scene
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    for (const address of [`/d/${file.slug}?download=1`, signed.download]) {
      const response = await visit(host, address, { headers })
      expect(response.status).toBe(state.others === 'locked' ? 403 : 404)
      expect(response.headers.get('content-type')).toStartWith('text/html')
      tellsNothing(await response.text(), scene)
    }
  })
})

const FOR_SOME: readonly Route['auth'][] = ['key', 'session', 'administrator']

test('every public route of the server is in this matrix', () => {
  const known = new Set([...probes.map(({ route }) => route), ...elsewhere.keys(), ...ABOUT_PEOPLE.keys()])
  const table = routes
    .filter(({ auth }) => !FOR_SOME.includes(auth))
    .map(({ method, path }) => `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`)
  expect(table.filter((route) => !known.has(route))).toEqual([])
  expect([...known].filter((route) => !table.includes(route))).toEqual([])
})
