/**
 * Signed addresses in every state of the folders at signing × every state at use × whoever signed × what was signed.
 * The expectation comes from a model: what closes a folder now, less what the signer was let past when signing.
 */
// Only in test:all: generated: every way in which a signed address is closed; signed-content.test.ts has some.
// Only on a folder: generated: the rule is in the program; signed-content.test.ts has signed addresses on the cluster.
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import {
  api,
  askSigned,
  bearer,
  changeFolder,
  type Headers,
  makeFolder,
  signedAddress,
  type Uploaded,
  unlock,
  upload,
  visit,
} from '../../support/clients/public.ts'
import { sessionHeaders, signedIn } from '../../support/clients/site-visitor.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const { host } = await ownedHost()
const stranger = (await host.addAccount('stranger')).apiKey

/** One thing that keeps people out: `mark` tells a new one from the same one as before. */
interface Bar {
  readonly folder: 'outer' | 'inner' | 'other'
  readonly kind: 'private' | 'password'
  readonly mark: number
}

interface State {
  readonly name: string
  readonly bars: readonly Bar[]
}

const hidden = (folder: Bar['folder'], mark = 0): Bar => ({ folder, kind: 'private', mark })
const locked = (folder: Bar['folder'], mark = 0): Bar => ({ folder, kind: 'password', mark })

/** The file is in `inner`, which is in `outer`. */
const atSigning: readonly State[] = [
  { name: 'open', bars: [] },
  { name: 'private', bars: [hidden('inner')] },
  { name: 'below a private folder', bars: [hidden('outer')] },
  { name: 'locked', bars: [locked('inner')] },
  { name: 'below a locked folder', bars: [locked('outer')] },
  { name: 'locked below a private folder', bars: [hidden('outer'), locked('inner')] },
]

const atUse: readonly State[] = [
  ...atSigning,
  { name: 'locked with another password', bars: [locked('inner', 1)] },
  { name: 'private once more', bars: [hidden('inner', 1)] },
  { name: 'private and locked', bars: [hidden('inner'), locked('inner')] },
  { name: 'moved into another private folder', bars: [hidden('other')] },
  { name: 'moved into another locked folder', bars: [locked('other')] },
]

const PASSWORDS = ['sesame', 'open wide'] as const
type Place = Bar['folder']
type Folders = Readonly<Record<Place, string>>

function has(state: State, folder: Place, kind: Bar['kind']): Bar | undefined {
  return state.bars.find((bar) => bar.folder === folder && bar.kind === kind)
}

/** Changes what differs and nothing else. */
async function bring(key: string, folders: Folders, from: State, to: State): Promise<void> {
  for (const folder of ['outer', 'inner'] as const) {
    const [wasPrivate, isPrivate] = [has(from, folder, 'private'), has(to, folder, 'private')]
    if (isPrivate !== undefined && isPrivate.mark !== (wasPrivate?.mark ?? -1)) {
      await changeFolder(host, key, folders[folder], { public: 1 })
      await changeFolder(host, key, folders[folder], { public: 0 })
    }
    if (isPrivate === undefined && wasPrivate !== undefined) {
      await changeFolder(host, key, folders[folder], { public: 1 })
    }
    const [oldLock, lock] = [has(from, folder, 'password'), has(to, folder, 'password')]
    if (lock?.mark !== oldLock?.mark) {
      const password = lock === undefined ? null : (PASSWORDS[lock.mark] ?? '')
      await changeFolder(host, key, folders[folder], { password })
    }
  }
  if (!to.bars.some(({ folder }) => folder === 'other')) return
  const closed = has(to, 'other', 'private') === undefined ? { password: PASSWORDS[0] } : { public: 0 }
  await changeFolder(host, key, folders.other, closed)
  await api(host, key, 'POST', '/api/v1/folder/move', { folder: folders.inner, parent: folders.other })
}

type Outcome = 200 | 403 | 404

/** What somebody gets who is let past `passed` and nothing else. */
function outcome(state: State, passed: readonly Bar[]): Outcome {
  const same = (a: Bar, b: Bar) => a.folder === b.folder && a.kind === b.kind && a.mark === b.mark
  const isPassed = (bar: Bar) => passed.some((each) => same(bar, each))
  // A folder that got one bar more was closed anew, with all that closes it.
  const isAsBefore = ({ folder }: Bar) => state.bars.every((bar) => bar.folder !== folder || isPassed(bar))
  const left = state.bars.filter((bar) => !isAsBefore(bar))
  if (left.some(({ kind }) => kind === 'private')) return 404
  return left.length > 0 ? 403 : 200
}

interface Signer {
  readonly name: string
  readonly headers: Headers
  /** Bars that this signer's rights lead past, as long as they last, and those that remembered passwords do. */
  readonly rights: (bar: Bar) => boolean
  readonly grants: (bar: Bar) => boolean
}

const never = () => false
const always = () => true

interface Scene {
  readonly key: string
  readonly folders: Folders
  readonly file: Uploaded
  readonly signers: readonly Signer[]
  /** Ends every key and session that signed. */
  readonly end: () => Promise<void>
}

async function unlockAll(file: Uploaded, state: State): Promise<Headers> {
  let headers: Headers = {}
  if (outcome(state, []) !== 403) return headers
  for (const _ of state.bars) headers = await unlock(host, `/d/${file.slug}`, PASSWORDS[0], headers)
  return headers
}

async function scene(state: State): Promise<Scene> {
  const { username, apiKey: key } = await host.addAccount()
  const outer = await makeFolder(host, key)
  const inner = await makeFolder(host, key, { parent: outer })
  const folders = { outer, inner, other: await makeFolder(host, key) }
  const file = await upload(host, { key, folder: inner, name: 'file.txt' })
  await bring(key, folders, { name: '', bars: [] }, state)
  const asking = await host.addKey(username)
  const narrow = await host.addKey(username, { folder: inner as never })
  const person = await signedIn(host, username)
  const cookie = await unlockAll(file, state)
  return {
    key,
    folders,
    file,
    signers: [
      { name: 'nobody', headers: {}, rights: never, grants: never },
      { name: 'another account', headers: bearer(stranger), rights: never, grants: never },
      { name: 'the owner’s key', headers: bearer(asking), rights: always, grants: never },
      { name: 'the owner’s session', headers: sessionHeaders(person), rights: always, grants: never },
      { name: 'a key for the folder', headers: bearer(narrow), rights: always, grants: never },
      { name: 'a visitor', headers: cookie, rights: never, grants: ({ kind }) => kind === 'password' },
    ],
    async end() {
      await host.revokeKey(asking)
      await host.revokeKey(narrow)
      await person.send('DELETE', '/api/v1/session')
    },
  }
}

interface Signed {
  readonly label: string
  readonly address: string
  readonly signer: Signer
}

const zipAnswer = z.object({ data: z.object({ url: z.string() }) })

async function zipAddress(headers: Headers, body: Record<string, readonly string[]>): Promise<string> {
  const answer = await fetch(`${host.url}/api/v1/files/download`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (answer.status !== 200)
    throw new Error(`signing a zip answered ${answer.status}: ${await answer.text()}`)
  return zipAnswer.parse(await answer.json()).data.url
}

/** Every address that the signer gets in that state; that they get it is asserted. */
async function sign({ folders, file }: Scene, state: State, signer: Signer): Promise<Signed[]> {
  const { headers, name } = signer
  const expected = outcome(
    state,
    state.bars.filter((bar) => signer.rights(bar) || signer.grants(bar)),
  )
  expect((await askSigned(host, 'download', { file_slug: file.slug }, headers)).status).toBe(expected)
  if (expected !== 200) return []
  const download = await signedAddress(host, file, 'download', headers)
  const direct = (await visit(host, `/d/${file.slug}?download=1`, { headers })).headers.get('location') ?? ''
  const contents = [
    { label: `${name}: download`, address: download, signer },
    { label: `${name}: link`, address: direct, signer },
  ]
  if (!signer.rights({ folder: 'inner', kind: 'private', mark: 0 })) return contents
  return [
    ...contents,
    { label: `${name}: zip of the file`, address: await zipAddress(headers, { files: [file.slug] }), signer },
    {
      label: `${name}: zip of the folder`,
      address: await zipAddress(headers, { folders: [folders.inner] }),
      signer,
    },
  ]
}

async function statuses(signed: readonly Signed[]): Promise<Record<string, number>> {
  const all: Record<string, number> = {}
  for (const { label, address } of signed) all[label] = (await visit(host, address)).status
  return all
}

function expectations(
  signed: readonly Signed[],
  before: State,
  now: State,
  rightsLive: boolean,
): Record<string, number> {
  const passed = ({ rights, grants }: Signer) =>
    before.bars.filter((bar) => grants(bar) || (rightsLive && rights(bar)))
  return Object.fromEntries(signed.map(({ label, signer }) => [label, outcome(now, passed(signer))]))
}

describe.each(atSigning)('signed while it is $name', (before) => {
  test.each(atUse)('and used while it is $name', async (now) => {
    const place = await scene(before)
    const signed: Signed[] = []
    for (const signer of place.signers) signed.push(...(await sign(place, before, signer)))
    await bring(place.key, place.folders, before, now)
    // Outside of its folder a key that is kept to one speaks for nobody, and moving keeps it inside.
    expect(await statuses(signed)).toEqual(expectations(signed, before, now, true))
    const owners = await Promise.all(
      signed.map(async ({ address }) => visit(host, address, { headers: bearer(place.key) })),
    )
    expect(owners.filter(({ status }, at) => signed[at]?.address.includes('/v2/') && status !== 200)).toEqual(
      [],
    )
    await place.end()
    expect(await statuses(signed)).toEqual(expectations(signed, before, now, false))
  })
})

describe('a signed zip of a folder with another one in it', () => {
  const inside: readonly State[] = [
    { name: 'open', bars: [] },
    { name: 'private', bars: [hidden('inner')] },
    { name: 'locked', bars: [locked('inner')] },
  ]
  const later: readonly State[] = [
    ...inside,
    { name: 'private once more', bars: [hidden('inner', 1)] },
    { name: 'locked with another password', bars: [locked('inner', 1)] },
  ]
  const cases = inside.flatMap((before) =>
    later.map((now) => ({ before, now, old: before.name, present: now.name })),
  )

  test.each(cases)('signed while that is $old, used while it is $present', async ({ before, now }) => {
    const place = await scene(before)
    const url = await zipAddress(bearer(place.key), { folders: [place.folders.outer] })
    const whole = await (await visit(host, url)).bytes()
    await bring(place.key, place.folders, before, now)
    const isOpen = outcome(now, before.bars) === 200
    const answer = await visit(host, url)
    // Never a zip that has lost something without a word.
    expect(answer.status).toBe(isOpen ? 200 : 403)
    if (isOpen) return expect(await answer.bytes()).toEqual(whole)
    expect(await answer.json()).toMatchObject({ error: 'INVALID_TOKEN' })
  })

  test('is refused when a private folder was made in it since', async () => {
    const { key, folders } = await scene({ name: 'open', bars: [] })
    const url = await zipAddress(bearer(key), { folders: [folders.outer] })
    await makeFolder(host, key, { parent: folders.outer, public: 0 })
    expect((await visit(host, url)).status).toBe(403)
  })

  test('goes on when a private folder is sent back as it was, with another name', async () => {
    const { key, folders } = await scene({ name: 'private', bars: [hidden('inner')] })
    const url = await zipAddress(bearer(key), { folders: [folders.outer] })
    await changeFolder(host, key, folders.inner, { name: 'another name', public: 0 })
    expect((await visit(host, url)).status).toBe(200)
  })
})
