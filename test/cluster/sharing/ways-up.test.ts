/** A page names what is above it to its owner, and to who came down from there. */
// Only in test:all: generated: folder-page.test.ts and access-matrix.test.ts have the pages.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { WAYS_COOKIE } from '../../../src/sharing/access.ts'
import { type Api, api } from '../../support/clients/api.ts'
import { sessionHeaders, signedIn } from '../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

type Step = 'top' | 'middle' | 'low'
const STEPS: readonly Step[] = ['top', 'middle', 'low']

let host: TestHoldfast
let owner: Api
let username: string
let ownerHeaders: Record<string, string>
let folders: Record<Step, string>
const names: Record<Step, string> = { top: 'Uppermost', middle: 'Halfway', low: 'Deepest' }
let slug: string
let arriving: string
let beside: string

beforeAll(async () => {
  host = await startHoldfast({ rateLimit: 1_000_000 })
  const account = await host.addAccount()
  username = account.username
  owner = api(host, account.apiKey)
  const top = await owner.folder(names.top)
  const middle = await owner.folder(names.middle, { parent: top })
  const low = await owner.folder(names.low, { parent: middle })
  folders = { top, middle, low }
  slug = (await owner.put('bytes', { folder: low, name: 'one.txt' })).slug
  beside = (await owner.put('other', { folder: low, name: 'beside.txt' })).slug
  const metadata = `filename ${btoa('late.txt')},folder ${btoa(low)}`
  const headers = { 'tus-resumable': '1.0.0', 'upload-length': '5', 'upload-metadata': metadata }
  const begun = await owner.send('/api/v1/uploads', { method: 'POST', headers })
  arriving = (begun.body as { slug: string }).slug
  ownerHeaders = sessionHeaders(await signedIn(host, username))
})
afterAll(() => host.stop())

/** Pages, with the step of the tree that they show themselves; a file is below all. */
const PAGES: Readonly<Record<string, { path: () => string; itself: Step | null; isOfFile?: true }>> = {
  'a file': { path: () => `/d/${slug}`, itself: null, isOfFile: true },
  'a report of a file': { path: () => `/d/${slug}/report`, itself: null },
  'a file that is arriving': { path: () => `/d/${arriving}`, itself: null },
  'the redirect to a file': { path: () => `/d/${slug}?download=1`, itself: null },
  'a folder': { path: () => `/f/${folders.low}`, itself: 'low' },
  'the second page of a folder': { path: () => `/f/${folders.low}?page=2`, itself: 'low' },
  'a folder of folders': { path: () => `/f/${folders.middle}`, itself: 'middle' },
  'the outermost folder': { path: () => `/f/${folders.top}`, itself: 'top' },
}

/** From which step down the looker may be told. */
const LOOKERS: Readonly<
  Record<string, { from: Step | null; headers: () => Promise<Record<string, string>> }>
> = {
  'a stranger': { from: null, headers: async () => ({}) },
  'a stranger with a forged cookie': {
    from: null,
    headers: async () => ({ cookie: `${WAYS_COOKIE}=WzEsMiwzXQ.c2lnbmF0dXJl` }),
  },
  'who came down from the outermost folder': { from: 'top', headers: () => came('top') },
  'who came down from the folder between': { from: 'middle', headers: () => came('middle') },
  'who came from the folder': { from: 'low', headers: () => came('low') },
  'who went through all of them': { from: 'top', headers: () => came('low', 'middle', 'top', 'low') },
  'the owner': { from: 'top', headers: async () => ownerHeaders },
  'a key for the folder between': {
    from: 'middle',
    headers: async () => ({
      authorization: `Bearer ${await host.addKey(username, { folder: folders.middle as never })}`,
    }),
  },
}

/** A browser that was shown these folders, one after another. */
async function came(...steps: readonly Step[]): Promise<Record<string, string>> {
  let cookie = ''
  for (const step of steps) {
    const answer = await fetch(`${host.url}/f/${folders[step]}`, { headers: cookie === '' ? {} : { cookie } })
    cookie = wayOf(answer) ?? cookie
  }
  return { cookie }
}

function wayOf({ headers }: Response): string | null {
  const set = headers.getSetCookie().find((each) => each.startsWith(`${WAYS_COOKIE}=`))
  return set?.split(';')[0] ?? null
}

/** What an answer says, its base64 read as well. */
async function toldBy(answer: Response): Promise<string> {
  const text = JSON.stringify([...answer.headers]) + (await answer.text())
  const decoded = [...text.matchAll(/[A-Za-z0-9_-]{16,}/g)].map(([part]) =>
    Buffer.from(part, 'base64url').toString(),
  )
  return [text, ...decoded].join('\n')
}

const told = (text: string) =>
  STEPS.filter((step) => text.includes(names[step]) || text.includes(folders[step]))

describe.each(Object.keys(PAGES))('the page of %s', (pageName) => {
  test.each(Object.keys(LOOKERS))('names to %s what is above only from where they came down', async (who) => {
    const [page, looker] = [PAGES[pageName], LOOKERS[who]]
    if (page === undefined || looker === undefined) throw new Error('no such case')
    const headers = { ...(await looker.headers()), accept: 'text/html' }
    const answer = await fetch(host.url + page.path(), { headers, redirect: 'manual' })
    const text = await toldBy(answer)
    const own = page.itself === null ? STEPS.length : STEPS.indexOf(page.itself)
    const first = looker.from === null ? STEPS.length : STEPS.indexOf(looker.from)
    const above = STEPS.filter((_, at) => at < own)
    const allowed = above.filter((_, at) => at >= first)
    const said = told(text).filter((step) => above.includes(step))
    expect(said.filter((step) => !allowed.includes(step))).toEqual([])
    // A folder's page has all of the way; a file's the folder that it lies in.
    if (page.itself !== null && answer.status === 200) expect(said).toEqual(allowed)
    if (page.isOfFile) expect(said.includes('low')).toBe(first < STEPS.length)
    if (page.isOfFile) expect(text).not.toContain(beside)
  })
})

describe('the cookie of the way', () => {
  test('is signed, for the server alone, and not set for the owner or where it says nothing new', async () => {
    const first = await fetch(`${host.url}/f/${folders.low}`)
    const set = first.headers.getSetCookie().join('\n')
    expect(set).toMatch(new RegExp(`^${WAYS_COOKIE}=[\\w-]+\\.[\\w-]+; Path=/; .*HttpOnly; SameSite=Lax`))
    const again = await fetch(`${host.url}/f/${folders.low}`, { headers: { cookie: wayOf(first) ?? '' } })
    expect(wayOf(again)).toBeNull()
    expect(wayOf(await fetch(`${host.url}/f/${folders.low}`, { headers: ownerHeaders }))).toBeNull()
  })

  test('holds the newest twenty, and of each tree the highest', async () => {
    const outer = await owner.folder('a tree', {})
    const inner = await owner.folder('below', { parent: outer })
    const others: string[] = []
    for (let at = 0; at < 19; at++) others.push(await owner.folder(`tree ${at}`))
    let cookie = ''
    for (const folder of [inner, outer, ...others]) {
      const answer = await fetch(`${host.url}/f/${folder}`, { headers: cookie === '' ? {} : { cookie } })
      cookie = wayOf(answer) ?? cookie
    }
    const held = (value: string): unknown[] =>
      JSON.parse(Buffer.from(value.split('=')[1]?.split('.')[0] ?? '', 'base64url').toString())
    // The inner folder went when the outer one came.
    expect(held(cookie)).toHaveLength(20)
    const last = await owner.folder('one more')
    cookie = wayOf(await fetch(`${host.url}/f/${last}`, { headers: { cookie } })) ?? ''
    expect(held(cookie)).toHaveLength(20)
    const below = await (await fetch(`${host.url}/f/${inner}`, { headers: { cookie } })).text()
    expect(below).not.toContain(outer)
  })

  test('leads up no further than what may still be opened', async () => {
    const outer = await owner.folder('soon private')
    const inner = await owner.folder('inside', { parent: outer })
    const answer = await fetch(`${host.url}/f/${outer}`)
    const cookie = wayOf(answer) ?? ''
    await owner.patch(`/api/v1/folder/${outer}`, { public: 0 })
    const below = await fetch(`${host.url}/f/${inner}`, { headers: { cookie } })
    expect(below.status).toBe(404)
  })
})
