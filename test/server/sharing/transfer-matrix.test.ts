/** Who sees what of a transfer: every sender, state and route, with the rule written a second time. */
import { expect, test } from 'bun:test'
import { z } from 'zod'
import { COMMAND_LINE } from '../../../src/domain/audit.ts'
import { DAY, timestamp } from '../../../src/domain/clock.ts'
import { parseSlug } from '../../../src/domain/ids.ts'
import { createTakeDowns } from '../../../src/sharing/take-downs.ts'
import { type Api, api } from '../../support/clients/api.ts'
import { bearer, GENEROUS, type Headers, passwordForm, visit } from '../../support/clients/public.ts'
import { tus } from '../../support/clients/tus.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const host = await hostOfFile(GENEROUS)
const guest = api(host)

const STATES = [
  'arriving',
  'whole',
  'one file',
  'locked',
  'counted',
  'counted and arriving',
  'ended',
  'reported',
  'taken down',
  'made private',
  'claimed',
  'taken back',
  'deleted',
] as const
type State = (typeof STATES)[number]
type Sender = 'guest' | 'account'

/** Those that only one kind of sender has. */
const ONLY: Partial<Record<State, Sender>> = {
  claimed: 'guest',
  'made private': 'account',
  'taken back': 'account',
}

interface Scene {
  readonly slug: string
  readonly folder: string
  readonly file: { readonly slug: string; readonly uuid: string; readonly sha256: string }
  /** Whose folder it is; null for a guest's. */
  readonly ownerKey: string | null
}

const made = z.object({
  data: z.object({ slug: z.string(), folder: z.string() }),
  receipt: z.string().default(''),
})

const takeDowns = createTakeDowns(host.database, host.clock, (error) => {
  throw error
})

async function sceneOf(sender: Sender, state: State): Promise<Scene> {
  const account = await host.addAccount()
  const isGuests = sender === 'guest'
  const by: Api = isGuests ? guest : api(host, account.apiKey)
  const { data, receipt } = made.parse((await by.post('/api/v1/transfers', { name: 'Sent' })).body)
  const into: Record<string, string> = isGuests
    ? { 'holdfast-transfer': receipt }
    : { 'x-folder-id': data.folder }
  const change = async (body: object) => {
    const path = isGuests ? `/api/v1/receipt/${receipt}` : `/api/v1/links/${data.slug}`
    expect(await by.patch(path, body)).toMatchObject({ status: 200 })
  }
  const file = await by.put(crypto.randomUUID(), { name: 'first.txt', headers: into })
  if (state !== 'one file') await by.put(crypto.randomUUID(), { name: 'second.txt', headers: into })
  if (state.endsWith('arriving')) await tus(by).start(9, { filename: 'third.txt' }, into)
  else await change({ complete: true })
  switch (state) {
    case 'arriving':
    case 'whole':
    case 'one file':
      break
    case 'locked':
      await change({ password: 'sesame' })
      break
    case 'counted':
    case 'counted and arriving':
      await change({ max_downloads: 1000 })
      break
    case 'ended':
      await change({ ends_at: timestamp(host.clock.now() + DAY) })
      host.clock.advance(2 * DAY)
      break
    case 'reported':
      await guest.post('/api/v1/file/report', {
        file: file.slug,
        reason: 'other',
        text: 'This is not theirs',
      })
      break
    case 'taken down':
      await takeDowns.file(COMMAND_LINE, { kind: 'slug', slug: parseSlug(file.slug) })
      break
    case 'made private':
      await by.patch(`/api/v1/folder/${data.folder}`, { public: 0 })
      break
    case 'claimed':
      await api(host, account.apiKey).post(`/api/v1/receipt/${receipt}/claim`, {})
      break
    case 'taken back':
      await by.send(`/api/v1/links/${data.slug}`, { method: 'DELETE' })
      break
    case 'deleted':
      if (isGuests) await by.send(`/api/v1/receipt/${receipt}`, { method: 'DELETE' })
      else await by.post('/folder/delete', { identifiers: [data.folder] })
      break
  }
  return { ...data, file, ownerKey: !isGuests || state === 'claimed' ? account.apiKey : null }
}

type Outcome = 'open' | 'hidden' | 'locked'

interface Route {
  readonly of: 'link' | 'folder' | 'file'
  readonly isBytes?: true
  readonly ask: (scene: Scene, headers: Headers) => Promise<Response>
}

const get =
  (path: (scene: Scene) => string): Route['ask'] =>
  (scene, headers) =>
    visit(host, path(scene), { headers, redirect: 'follow' })
const post =
  (path: string, body: (scene: Scene) => object): Route['ask'] =>
  (scene, headers) =>
    visit(host, path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body(scene)),
    })

const ROUTES: Readonly<Record<string, Route>> = {
  'the page of the link': { of: 'link', ask: get(({ slug }) => `/l/${slug}`) },
  'the zip of the link': { of: 'link', isBytes: true, ask: get(({ slug }) => `/l/${slug}?download=zip`) },
  'the folder’s page': { of: 'folder', ask: get(({ folder }) => `/f/${folder}`) },
  'the folder’s zip': { of: 'folder', isBytes: true, ask: get(({ folder }) => `/f/${folder}?download=zip`) },
  'the folder’s list': {
    of: 'folder',
    ask: post('/v2/api/public/folder', ({ folder }) => ({ folder })),
  },
  'the file’s page': { of: 'file', ask: get(({ file }) => `/d/${file.slug}`) },
  'the file’s bytes': { of: 'file', isBytes: true, ask: get(({ file }) => `/d/${file.slug}?download=1`) },
  'the file’s thumbnail': { of: 'file', ask: get(({ file }) => `/t/${file.uuid}`) },
  'the file’s signed address': {
    of: 'file',
    ask: post('/v2/api/public/download', ({ file }) => ({ file_slug: file.slug })),
  },
}

/** The rule once more, from the contract alone. */
function expected(state: State, route: Route, isOwner: boolean): Outcome {
  if (state === 'deleted') return 'hidden'
  if (route.of === 'file' && state === 'taken down') return 'hidden'
  if (route.of !== 'link') {
    const hasTerms = state === 'locked' || state === 'ended' || state.startsWith('counted')
    const isClosed = hasTerms || state === 'taken back' || state === 'made private'
    return isOwner || !isClosed ? 'open' : 'hidden'
  }
  if (state === 'ended' || state === 'taken back') return 'hidden'
  if (state === 'locked') return 'locked'
  // One file is no zip; a number of downloads counts for all that is going to be there.
  if (state === 'counted and arriving' && route.isBytes === true && !isOwner) return 'hidden'
  return 'open'
}

async function outcomeOf(response: Response): Promise<Outcome> {
  const text = await response.text()
  if (response.status === 403) return 'locked'
  if (response.status === 404) return 'hidden'
  expect(response.status).toBe(200)
  return passwordForm(text) === null ? 'open' : 'locked'
}

const senders: readonly Sender[] = ['guest', 'account']
const cases = senders.flatMap((sender) =>
  STATES.filter((state) => (ONLY[state] ?? sender) === sender).map((state) => ({ sender, state })),
)

test.each(cases)('of a $sender, $state: every route answers by the rule', async ({ sender, state }) => {
  const scene = await sceneOf(sender, state)
  const viewers = [
    { name: 'a stranger', headers: {}, isOwner: false },
    { name: 'another account', headers: bearer((await host.addAccount()).apiKey), isOwner: false },
    ...(scene.ownerKey === null
      ? []
      : [{ name: 'its owner', headers: bearer(scene.ownerKey), isOwner: true }]),
  ]
  for (const { name, headers, isOwner } of viewers) {
    for (const [what, route] of Object.entries(ROUTES)) {
      const outcome = await outcomeOf(await route.ask(scene, headers))
      expect(`${name}: ${what} is ${outcome}`).toBe(`${name}: ${what} is ${expected(state, route, isOwner)}`)
    }
  }
})
