/** Links whose downloads are limited in number: what takes a place, what gives it back, and who gets the last one. */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { z } from 'zod'
import { DAY, MINUTE } from '../../../../src/domain/clock.ts'
import type { FolderIdentifier, LinkSlug, LinkVisitor } from '../../../../src/domain/ids.ts'
import { changeLink, linkedFile, makeLink, revokeLink } from '../../../support/clients/links.ts'
import {
  api,
  bearer,
  elements,
  type Headers,
  makeFolder,
  randomBytes,
  type Uploaded,
  upload,
  visit,
} from '../../../support/clients/public.ts'
import { eventually } from '../../../support/eventually.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const SMALL = randomBytes(3000)
/** More than what the sockets of a connection hold. */
const LARGE = randomBytes(40 * 1024 * 1024)
const large = await upload(host, { key, name: 'large.bin', bytes: LARGE })

const folderOfCurl = mkdtempSync(join(tmpdir(), 'holdfast-curl-'))
afterAll(() => rmSync(folderOfCurl, { recursive: true }))

const named = (agent: string): Headers => ({ 'user-agent': agent })
const ANN = named('Ann/1')
const BEN = named('Ben/1')

interface Limited {
  readonly link: string
  readonly file: Uploaded
}

async function limited(max = 1, bytes = SMALL): Promise<Limited> {
  const file = await upload(host, { key, name: 'once.bin', bytes })
  return { file, link: await makeLink(host, key, { files: [file.uuid], max_downloads: max }) }
}

const read = z.object({ data: z.object({ state: z.string(), downloads: z.number() }) })

async function taken(link: string): Promise<readonly [string, number]> {
  const { state, downloads } = read.parse((await api(host, key, 'GET', `/api/v1/links/${link}`)).body).data
  return [state, downloads]
}

/** A claim ends a moment after its last byte. */
function untilTaken(link: string, wanted: readonly [string, number]): Promise<void> {
  return eventually(`the link is ${wanted.join(' with ')}`, async () =>
    Bun.deepEquals(await taken(link), wanted),
  )
}

/** Nothing of the link is being sent any more. */
function untilOver(link: string): Promise<void> {
  return eventually('all transfers are over', async () => {
    const { rows } = await sql<{ n: string }>`
      select count(*) as n from link_slots
      where running > 0 and link_id = (select id from links where slug = ${link})
    `.execute(host.database)
    return Number(rows[0]?.n) === 0
  })
}

/** The address of the bytes, as a visitor gets it from the link. */
async function addressFor(link: string, headers: Headers, way = 'download=1'): Promise<string> {
  const answer = await visit(host, `/l/${link}?${way}`, { headers })
  expect(answer.status).toBe(302)
  return answer.headers.get('location') ?? ''
}

/** A browser that has looked at the link, and keeps its cookie. */
async function browser(link: string): Promise<Headers> {
  const set = (await visit(host, `/l/${link}`, { headers: ANN })).headers.getSetCookie()
  const cookie = set.find((line) => line.startsWith('link_visitor='))
  expect(cookie).toContain(`Path=/l/${link};`)
  return { ...ANN, cookie: cookie?.split(';')[0] ?? '' }
}

async function claims(link: string): Promise<number> {
  const { rows } = await sql<{ n: string }>`
    select count(*) as n from link_slots where link_id = (select id from links where slug = ${link})
  `.execute(host.database)
  return Number(rows[0]?.n)
}

async function downloadBy(link: string, headers: Headers = {}): Promise<number> {
  const answer = await visit(host, `/l/${link}?download=1`, { headers })
  const bytes = await visit(host, answer.headers.get('location') ?? '', { headers })
  return (await bytes.bytes()).length
}

async function usedUp(response: Response): Promise<void> {
  expect([response.status, await response.json()]).toMatchObject([404, { error: 'LINK_USED_UP' }])
}

describe('a download of a link with one place', () => {
  test('takes it for good, on every route, for everybody else', async () => {
    const { link, file } = await limited()
    const others = await addressFor(link, BEN)
    expect(await (await visit(host, await addressFor(link, ANN))).bytes()).toEqual(SMALL)
    expect(await taken(link)).toEqual(['used_up', 1])
    const routes = ['', '?download=1', '?view=1', `/${file.uuid}`, `/${file.uuid}/thumbnail`]
    for (const rest of routes) await usedUp(await visit(host, `/l/${link}${rest}`, { headers: BEN }))
    await usedUp(await visit(host, others, { headers: BEN }))
    await usedUp(await visit(host, others, { headers: { ...BEN, range: 'bytes=0-0' } }))
    expect((await visit(host, others, { method: 'HEAD', headers: BEN })).status).toBe(404)
  })

  test('can be gone on with and repeated by the same browser for a day, and no longer', async () => {
    const { link } = await limited()
    const ann = await browser(link)
    for (const range of [undefined, 'bytes=1000-', 'bytes=0-']) {
      const headers = range === undefined ? ann : { ...ann, range }
      const answer = await visit(host, await addressFor(link, ann), { headers })
      expect(await answer.bytes()).toEqual(range === 'bytes=1000-' ? SMALL.slice(1000) : SMALL)
    }
    expect(await taken(link)).toEqual(['used_up', 1])
    host.clock.advance(DAY)
    await usedUp(await visit(host, `/l/${link}?download=1`, { headers: ann }))
  })

  test('is gone on with by a program without cookies, while to begin again is another one', async () => {
    const { link } = await limited()
    await (await visit(host, await addressFor(link, ANN))).bytes()
    await untilOver(link)
    await usedUp(await visit(host, `/l/${link}?download=1`, { headers: ANN }))
    const from = (range: string, headers: Headers) =>
      visit(host, `/l/${link}?download=1`, { headers: { ...headers, range } })
    for (const range of ['bytes=0-', 'bytes=0-0', 'bytes=00-', 'bytes=1-,0-'])
      await usedUp(await from(range, ANN))
    await usedUp(await from('bytes=1000-', BEN))
    // A line may have lost what was sent: less than half, which is no download.
    const lost = await from('bytes=2000-', ANN)
    expect(lost.status).toBe(302)
    const address = lost.headers.get('location') ?? ''
    expect(await (await visit(host, address, { headers: { range: 'bytes=2000-' } })).bytes()).toHaveLength(
      1000,
    )
    await untilOver(link)
    for (const range of ['bytes=1-', 'bytes=0-', 'bytes=2000-'])
      await usedUp(await visit(host, address, { headers: { range } }))
  })

  test('is begun again by the program that broke it off, once, when there is no other place', async () => {
    const { link } = await limited()
    const address = await addressFor(link, ANN)
    await (await visit(host, address, { headers: { range: 'bytes=0-1999' } })).bytes()
    await untilOver(link)
    await usedUp(await visit(host, `/l/${link}?download=1`, { headers: BEN }))
    const [again, beside] = [await addressFor(link, ANN), await addressFor(link, ANN)]
    expect(await (await visit(host, again)).bytes()).toEqual(SMALL)
    await untilOver(link)
    expect(await taken(link)).toEqual(['used_up', 1])
    for (const late of [beside, again]) await usedUp(await visit(host, late))
    await usedUp(await visit(host, `/l/${link}?download=1`, { headers: ANN }))
  })

  test('is at an address of a program without cookies four times the whole, whoever has it', async () => {
    const { link } = await limited()
    const address = await addressFor(link, ANN)
    const answers = await Promise.all(Array.from({ length: 9 }, () => visit(host, address)))
    const lengths = await Promise.all(
      answers.map(async (answer) => (answer.status === 200 ? (await answer.bytes()).length : 0)),
    )
    expect(lengths.sort((a, b) => b - a)).toEqual([...Array(4).fill(SMALL.length), ...Array(5).fill(0)])
  })

  test('is one whatever its ranges, one after another or at once', async () => {
    const { link } = await limited()
    const address = await addressFor(link, ANN)
    const part = async (at: number) => {
      const range = `bytes=${at * 300}-${at * 300 + 299}`
      return (await visit(host, address, { headers: { ...ANN, range } })).bytes()
    }
    const parts = await Promise.all(Array.from({ length: 10 }, (_, at) => part(at)))
    expect(Buffer.concat(parts)).toEqual(Buffer.from(SMALL))
    await untilTaken(link, ['used_up', 1])
  })

  test('of which less than half was sent gives its place back', async () => {
    const link = await makeLink(host, key, { files: [large.uuid], max_downloads: 1 })
    const leaving = new AbortController()
    const begun = await fetch(await addressFor(link, ANN), { signal: leaving.signal })
    expect(begun.status).toBe(200)
    expect(await taken(link)).toEqual(['used_up', 1])
    await usedUp(await visit(host, `/l/${link}`, { headers: BEN }))
    leaving.abort()
    await expect(begun.bytes()).rejects.toThrow()
    await untilTaken(link, ['live', 0])
    const small = await visit(host, await addressFor(link, ANN), {
      headers: { ...ANN, range: 'bytes=0-999' },
    })
    await small.bytes()
    await untilTaken(link, ['live', 0])
    const whole = await visit(host, await addressFor(link, BEN))
    expect((await whole.bytes()).length).toBe(LARGE.length)
    await usedUp(await visit(host, `/l/${link}?download=1`, { headers: ANN }))
  })

  test('takes no place by its page, by HEAD, by conditions that hold, and by a range past the end', async () => {
    const { link, file } = await limited()
    const address = await addressFor(link, ANN)
    await visit(host, `/l/${link}`, { headers: ANN })
    await visit(host, `/l/${link}`, { method: 'HEAD', headers: ANN })
    await visit(host, address, { method: 'HEAD' })
    expect((await visit(host, address, { headers: { 'if-none-match': '*' } })).status).toBe(304)
    expect((await visit(host, address, { headers: { range: 'bytes=99999-' } })).status).toBe(416)
    expect(await taken(link)).toEqual(['live', 0])
    expect(file.size).toBe(SMALL.length)
  })
})

test('an empty file takes a place too', async () => {
  const { link } = await limited(1, new Uint8Array(0))
  expect((await visit(host, await addressFor(link, ANN))).status).toBe(200)
  await untilTaken(link, ['used_up', 1])
})

test('a zip, and all files of it one by one, are one download for a visitor', async () => {
  const folder = await makeFolder(host, key)
  const inside = await upload(host, { key, folder, bytes: SMALL })
  const loose = await upload(host, { key, bytes: SMALL })
  const link = await makeLink(host, key, { files: [loose.uuid], folders: [folder], max_downloads: 2 })
  const [ann, ben, cleo] = [await browser(link), await browser(link), await browser(link)]
  for (const file of [inside, loose]) {
    const found = await visit(host, `${await linkedFile(host, link, file)}?download=1`, { headers: ann })
    await (await visit(host, found.headers.get('location') ?? '')).bytes()
  }
  const zipOf = async (headers: Headers) => {
    const answer = await visit(host, `/l/${link}?download=zip`, { headers })
    await answer.bytes()
    return answer.status
  }
  expect(await zipOf(ann)).toBe(200)
  await untilTaken(link, ['live', 1])
  expect(await zipOf(ben)).toBe(200)
  await untilTaken(link, ['used_up', 2])
  expect([await zipOf(cleo), await zipOf(ann)]).toEqual([404, 200])
})

test('what a program without cookies goes on with is the file that it began, and nothing else of the link', async () => {
  const folder = await makeFolder(host, key)
  const [one, two] = [
    await upload(host, { key, folder, bytes: SMALL }),
    await upload(host, { key, folder, bytes: SMALL }),
  ]
  const link = await makeLink(host, key, { folders: [folder], max_downloads: 1 })
  const [ofOne, ofTwo] = [await linkedFile(host, link, one), await linkedFile(host, link, two)]
  const from = (path: string) => visit(host, path, { headers: { ...ANN, range: 'bytes=2000-' } })
  const begun = await visit(host, `${ofOne}?download=1`, { headers: ANN })
  await (await visit(host, begun.headers.get('location') ?? '')).bytes()
  await untilTaken(link, ['used_up', 1])
  expect((await from(`${ofOne}?download=1`)).status).toBe(302)
  for (const path of [`${ofTwo}?download=1`, `/l/${link}?download=zip`]) await usedUp(await from(path))
})

test('a zip that is broken off gives its place back', async () => {
  const small = await upload(host, { key, bytes: SMALL })
  const link = await makeLink(host, key, { files: [large.uuid, small.uuid], max_downloads: 1 })
  const leaving = new AbortController()
  const zip = await fetch(`${host.url}/l/${link}?download=zip`, { signal: leaving.signal })
  const reader = zip.body?.getReader()
  expect((await reader?.read())?.value?.length).toBeGreaterThan(0)
  expect(await taken(link)).toEqual(['used_up', 1])
  leaving.abort()
  await expect(reader?.read()).rejects.toThrow()
  await untilTaken(link, ['live', 0])
})

test('the owner and previews of chat programs take no place, and previews get no bytes', async () => {
  const { link } = await limited()
  const own = (await visit(host, `/l/${link}?download=1`, { headers: bearer(key) })).headers.get('location')
  expect(await (await visit(host, own ?? '')).bytes()).toEqual(SMALL)
  const previews = [
    named('facebookexternalhit/1.1'),
    named('Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)'),
    named('TelegramBot (like TwitterBot)'),
    named('WhatsApp/2.23.20.0'),
    named('Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)'),
    { ...named('Mozilla/5.0 Chrome/140'), 'sec-purpose': 'prefetch;prerender' },
  ]
  for (const headers of previews) {
    for (const rest of ['', '?download=1', '?view=1', '?raw=1']) {
      const answer = await visit(host, `/l/${link}${rest}`, { headers })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toStartWith('text/html')
    }
  }
  expect(await taken(link)).toEqual(['live', 0])
  const phone = named('Mozilla/5.0 (Linux; Android 10; CUBOT X30) Chrome/120.0 Mobile Safari/537.36')
  expect((await visit(host, `/l/${link}?download=1`, { headers: phone })).status).toBe(302)
})

test('a key that may not read what the link opens is a stranger, and an address of a revoked key is void', async () => {
  const [folder, other] = [await makeFolder(host, key), await makeFolder(host, key)]
  const file = await upload(host, { key, folder, bytes: SMALL })
  const link = await makeLink(host, key, { files: [file.uuid], max_downloads: 1 })
  const keyFor = (to: string) => host.addKey('owner', { folder: to as FolderIdentifier })
  const [own, spare] = [await keyFor(folder), await host.addKey('owner')]
  const strangers = [await keyFor(other), await host.addKey('owner', { scopes: ['upload', 'manage'] })]
  const [owns, spares] = [await addressFor(link, bearer(own)), await addressFor(link, bearer(spare))]
  const lent = await addressFor(link, bearer(strangers[0] ?? ''))
  await downloadBy(link)
  await untilTaken(link, ['used_up', 1])
  for (const stranger of strangers) {
    for (const way of ['', '?download=1', '?download=zip'])
      await usedUp(await visit(host, `/l/${link}${way}`, { headers: bearer(stranger) }))
    await usedUp(await visit(host, lent, { headers: bearer(stranger) }))
  }
  for (const address of [owns, spares]) expect(await (await visit(host, address)).bytes()).toEqual(SMALL)
  await host.revokeKey(spare)
  expect((await visit(host, spares)).status).toBe(404)
  expect((await visit(host, owns)).status).toBe(200)
  expect(await taken(link)).toEqual(['used_up', 1])
})

test('browsers behind one address are told apart by a cookie of the page', async () => {
  const { link } = await limited()
  const [one, other] = [await browser(link), await browser(link)]
  await (await visit(host, await addressFor(link, one))).bytes()
  await usedUp(await visit(host, `/l/${link}?download=1`, { headers: other }))
  await usedUp(await visit(host, `/l/${link}?download=1`, { headers: ANN }))
  expect((await visit(host, `/l/${link}?download=1`, { headers: one })).status).toBe(302)
})

test('the page of a limited link shows no content: no preview, no signed address, an icon for a picture', async () => {
  const { link, file } = await limited(3)
  const html = await (await visit(host, `/l/${link}`, { headers: ANN })).text()
  expect(html).toContain('3 more people')
  expect(html).not.toContain('/v2/')
  const picture = await visit(host, `${await linkedFile(host, link, file)}/thumbnail`, { headers: ANN })
  expect(picture.headers.get('content-type')).toBe('image/svg+xml')
})

test('a signed address from before the limit counts too, and a raised limit opens the link again', async () => {
  const file = await upload(host, { key, bytes: SMALL })
  const link = await makeLink(host, key, { files: [file.uuid] })
  const [anns, bens] = [await addressFor(link, ANN), await addressFor(link, BEN)]
  await changeLink(host, key, link, { max_downloads: 1 })
  await (await visit(host, anns)).bytes()
  await usedUp(await visit(host, bens))
  await changeLink(host, key, link, { max_downloads: 2 })
  expect((await visit(host, bens)).status).toBe(200)
  await changeLink(host, key, link, { max_downloads: null })
  expect((await visit(host, `/l/${link}`, { headers: named('Cleo/1') })).status).toBe(200)
})

test.each([0, 10_001, 1.5, '1'])('max_downloads may not be %j', async (max_downloads) => {
  const file = await upload(host, { key })
  const { status, body } = await api(host, key, 'POST', '/api/v1/links', {
    files: [file.uuid],
    max_downloads,
  })
  expect([status, body]).toMatchObject([400, { message: expect.stringContaining('max_downloads') }])
})

test('of 64 visitors who race for the last place at all nodes exactly one gets it', async () => {
  const { link } = await limited(3)
  for (let place = 0; place < 2; place++) await (await visit(host, await addressFor(link, ANN))).bytes()
  const racers = Array.from({ length: 64 }, () => addressFor(link, ANN))
  const addresses = await Promise.all(racers)
  const answers = await Promise.all(addresses.map((address) => visit(host, address)))
  const bodies = await Promise.all(
    answers.map(async (answer) => [answer.status, await answer.text()] as const),
  )
  expect(bodies.filter(([status]) => status === 200)).toHaveLength(1)
  for (const [status, text] of bodies.filter(([found]) => found !== 200)) {
    expect(status).toBe(404)
    expect(text).toContain('LINK_USED_UP')
  }
  await untilTaken(link, ['used_up', 3])
})

test('downloads are counted without a limit too, by anybody but the owner and previews, and views are none', async () => {
  const folder = await makeFolder(host, key)
  const file = await upload(host, { key, folder, bytes: SMALL })
  const link = await makeLink(host, key, { files: [file.uuid] })
  await downloadBy(link)
  await downloadBy(link, { range: 'bytes=1000-' })
  await downloadBy(link, bearer(key))
  await downloadBy(link, { 'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)' })
  const view = await visit(host, `/l/${link}?view=1`)
  await (await visit(host, view.headers.get('location') ?? '')).bytes()
  const zip = await makeLink(host, key, { folders: [folder] })
  await (await visit(host, `/l/${zip}?download=zip`)).bytes()
  await host.runJobs()
  await untilTaken(link, ['live', 1])
  await untilTaken(zip, ['live', 1])
  expect(await claims(link)).toBe(0)
  const broken = await makeLink(host, key, { files: [large.uuid] })
  const leaving = new AbortController()
  const begun = await fetch(await addressFor(broken, ANN), { signal: leaving.signal })
  await host.runJobs()
  await untilTaken(broken, ['live', 1])
  leaving.abort()
  await expect(begun.bytes()).rejects.toThrow()
  await eventually('a download that broke off early is none', async () => {
    await host.runJobs()
    return Bun.deepEquals(await taken(broken), ['live', 0])
  })
  // A limit that comes later is one of all downloads.
  await changeLink(host, key, link, { max_downloads: 1 })
  expect(await taken(link)).toEqual(['used_up', 1])
})

test('after a day only the number of the claims is left', async () => {
  const file = await upload(host, { key, bytes: SMALL })
  const link = await makeLink(host, key, { files: [file.uuid], max_downloads: 3 })
  await downloadBy(link)
  await downloadBy(link)
  await downloadBy(link, { range: 'bytes=0-9' })
  await untilTaken(link, ['live', 2])
  await host.runJobs()
  expect(await claims(link)).toBe(3)
  host.clock.advance(DAY)
  await host.runJobs()
  expect([await claims(link), await taken(link)]).toEqual([0, ['live', 2]])
  expect(await downloadBy(link)).toBe(SMALL.length)
  await untilTaken(link, ['used_up', 3])
})

test('of claims that gave their place back the last ones alone are kept', async () => {
  const file = await upload(host, { key, bytes: SMALL })
  const link = await makeLink(host, key, { files: [file.uuid], max_downloads: 9 })
  const { id } = await host.database
    .selectFrom('links')
    .select('id')
    .where('slug', '=', link as LinkSlug)
    .executeTakeFirstOrThrow()
  const former = Array.from({ length: 260 }, (_, at) => ({
    link_id: id,
    visitor: `${at}` as LinkVisitor,
    program: null,
    sent: 499_999,
    running: 0,
    created_at: host.clock.now(),
  }))
  await host.database.insertInto('link_slots').values(former).execute()
  expect(await downloadBy(link)).toBe(SMALL.length)
  await untilTaken(link, ['live', 1])
  expect(await claims(link)).toBe(201)
})

test('what is running goes on when the link is revoked, and nothing begins', async () => {
  const link = await makeLink(host, key, { files: [large.uuid], max_downloads: 2 })
  const address = (await visit(host, `/l/${link}?download=1`)).headers.get('location') ?? ''
  const running = await visit(host, address)
  await revokeLink(host, key, link)
  expect((await visit(host, address)).status).toBe(404)
  expect((await running.bytes()).length).toBe(LARGE.length)
  await untilTaken(link, ['revoked', 1])
})

async function curl(...given: string[]): Promise<number> {
  const run = Bun.spawn(['curl', '-sfL', ...given], { cwd: folderOfCurl })
  return run.exited
}

test('a download that curl breaks off and goes on with is one, and the next is refused', async () => {
  const link = await makeLink(host, key, { files: [large.uuid], max_downloads: 1 })
  const address = `${host.url}/l/${link}?download=1`
  const broken = Bun.spawn(['curl', '-sfLN', address], { stdout: 'pipe' })
  const file1 = Bun.file(join(folderOfCurl, 'one.bin')).writer()
  let size = 0
  for await (const chunk of broken.stdout) {
    file1.write(chunk)
    size += chunk.length
    if (size > LARGE.length * 0.6) break
  }
  await file1.end()
  broken.kill()
  await broken.exited
  await untilTaken(link, ['used_up', 1])
  expect(await curl('-C', '-', '-o', 'one.bin', address)).toBe(0)
  expect(readFileSync(join(folderOfCurl, 'one.bin')).equals(LARGE)).toBe(true)
  await untilTaken(link, ['used_up', 1])
  // 22: the server answered with an error.
  expect(await curl('-o', 'two.bin', address)).toBe(22)
})

/** The form of a limited link's page, as a browser without scripts sends it. */
async function formOf(path: string, headers: Headers = ANN): Promise<{ action: string; once: string }> {
  const html = await (await visit(host, path, { headers })).text()
  const actions = elements(html, 'form[method="post"]').flatMap(({ attributes }) => attributes.action ?? [])
  const once = elements(html, 'input[name="once"]').map(({ attributes }) => attributes.value ?? '')
  return { action: actions[0] ?? '', once: once[0] ?? '' }
}

function send({ action, once }: { action: string; once: string }, headers: Headers = ANN): Promise<Response> {
  const body = new URLSearchParams({ once })
  return visit(host, action, { method: 'POST', headers, body })
}

async function placeAt(path: string, headers: Headers = ANN): Promise<string> {
  const answer = await send(await formOf(path, headers), headers)
  expect(answer.status).toBe(303)
  return answer.headers.get('location') ?? ''
}

async function readAll(address: string, headers: Headers = ANN): Promise<readonly [number, number]> {
  const answer = await visit(host, address, { headers })
  return [answer.status, (await answer.bytes()).length]
}

describe('the form of a limited link', () => {
  test('is all that downloads: whoever follows every address of the pages takes no place', async () => {
    const folder = await makeFolder(host, key)
    await upload(host, { key, folder, name: 'inside.png', bytes: SMALL })
    const loose = await upload(host, { key, name: 'loose.txt', bytes: SMALL })
    const { link: one } = await limited()
    for (const link of [
      one,
      await makeLink(host, key, { folders: [folder], max_downloads: 1 }),
      await makeLink(host, key, { files: [loose.uuid], folders: [folder], max_downloads: 1 }),
    ]) {
      const queue = [`/l/${link}`]
      const seen = new Set(queue)
      for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
        const answer = await visit(host, path, { redirect: 'follow', headers: named('Mozilla/5.0 Scanner') })
        expect(answer.headers.get('content-disposition')).toBeNull()
        const html = /html/.test(answer.headers.get('content-type') ?? '') ? await answer.text() : ''
        const found = ['href', 'src', 'content', 'data-url', 'poster'].flatMap((name) =>
          elements(html, `[${name}]`).map(({ attributes }) => attributes[name] ?? ''),
        )
        const buttons = elements(html, 'form[method="get"], button[formaction]')
        expect(buttons.filter(({ attributes }) => attributes.method === 'get')).toEqual([])
        for (const text of found) {
          if (!/^[/?]|^https?:/.test(text)) continue
          const { origin, pathname, search } = new URL(text, `${host.url}${path}`)
          const next = pathname + search
          expect(next).not.toMatch(/download=|view=1|raw=1|\/v2\//)
          if (origin !== new URL(host.url).origin || !pathname.startsWith('/l/') || seen.has(next)) continue
          seen.add(next)
          queue.push(next)
        }
      }
      expect(await taken(link)).toEqual(['live', 0])
      expect(await claims(link)).toBe(0)
    }
  })

  test('takes the place before the first byte, and leads to an address that is bound to it', async () => {
    const { link } = await limited()
    const form = await formOf(`/l/${link}`)
    const answer = await send(form)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([303, 'private, no-store'])
    const address = answer.headers.get('location') ?? ''
    await usedUp(await visit(host, `/l/${link}`, { headers: BEN }))
    await usedUp(await visit(host, `/l/${link}?download=1`, { headers: BEN }))
    // By another program than the browser, without its cookie, in parts.
    expect(await readAll(address, { ...BEN, range: 'bytes=0-0' })).toEqual([206, 1])
    expect(await readAll(address, { ...BEN, range: 'bytes=0-999' })).toEqual([206, 1000])
    expect(await readAll(address, { ...BEN, range: 'bytes=1000-' })).toEqual([206, 2000])
    await untilTaken(link, ['used_up', 1])
  })

  test('sent again with the same value is the same place, and with another one another', async () => {
    const { link } = await limited(2)
    const [first, second, third] = [
      await formOf(`/l/${link}`),
      await formOf(`/l/${link}`),
      await formOf(`/l/${link}`),
    ]
    expect(new Set([first.once, second.once, third.once]).size).toBe(3)
    for (const form of [first, first, second, first, second]) expect((await send(form)).status).toBe(303)
    await usedUp(await send(third))
    expect(await claims(link)).toBe(2)
  })

  test('of a browser that keeps its cookie is one place whatever its values, for a day', async () => {
    const { link } = await limited()
    const ann = await browser(link)
    const [one, other] = [await formOf(`/l/${link}`, ann), await formOf(`/l/${link}`, ann)]
    expect((await send(one, ann)).status).toBe(303)
    const address = (await send(other, ann)).headers.get('location') ?? ''
    expect(await readAll(address)).toEqual([200, SMALL.length])
    await untilTaken(link, ['used_up', 1])
  })

  test('takes a place that is free again after two minutes without a byte, and its address takes one as others do', async () => {
    const { link } = await limited()
    const address = await placeAt(`/l/${link}`)
    host.clock.advance(1.5 * MINUTE)
    await usedUp(await visit(host, `/l/${link}?download=1`, { headers: BEN }))
    host.clock.advance(0.5 * MINUTE)
    const other = await placeAt(`/l/${link}`, BEN)
    await usedUp(await visit(host, address))
    host.clock.advance(2 * MINUTE)
    expect(await readAll(address)).toEqual([200, SMALL.length])
    await untilTaken(link, ['used_up', 1])
    await usedUp(await visit(host, other))
  })

  test('leads to an address that is good for half an hour, and longer while it is read', async () => {
    const { link } = await limited(2)
    const [unread, read] = [await placeAt(`/l/${link}`), await placeAt(`/l/${link}`, BEN)]
    const part = (at: number) => readAll(read, { range: `bytes=${at}-${at + 499}` })
    for (const at of [0, 500, 1000]) {
      expect(await part(at)).toEqual([206, 500])
      await untilOver(link)
      host.clock.advance(20 * MINUTE)
    }
    expect(await part(1500)).toEqual([206, 500])
    await untilOver(link)
    expect((await visit(host, unread)).status).toBe(403)
    host.clock.advance(30 * MINUTE)
    expect(await part(2000)).toEqual([403, expect.any(Number)])
  })

  test('is there for a folder, for each of its files and for several things, as a zip', async () => {
    const folder = await makeFolder(host, key)
    const file = await upload(host, { key, folder, name: 'inside.bin', bytes: SMALL })
    const loose = await upload(host, { key, name: 'loose.bin', bytes: SMALL })
    for (const targets of [{ folders: [folder] }, { files: [loose.uuid], folders: [folder] }]) {
      const link = await makeLink(host, key, { ...targets, max_downloads: 2 })
      const address = await placeAt(`/l/${link}`)
      const zip = await visit(host, address, { headers: BEN })
      expect([zip.status, zip.headers.get('content-type')]).toEqual([200, 'application/zip'])
      expect(Buffer.from(await zip.bytes()).includes('inside.bin')).toBe(true)
      await untilTaken(link, ['live', 1])
      const { once } = await formOf(`/l/${link}`, BEN)
      const one = await send({ action: await linkedFile(host, link, file), once }, BEN)
      expect(await readAll(one.headers.get('location') ?? '', BEN)).toEqual([200, SMALL.length])
      await untilTaken(link, ['used_up', 2])
    }
  })

  test('of a locked link asks for the password first, and a changed place is refused', async () => {
    const folder = await makeFolder(host, key)
    await upload(host, { key, folder, bytes: SMALL })
    const link = await makeLink(host, key, { folders: [folder], max_downloads: 1, password: 'kelp' })
    const locked = await send({ action: `/l/${link}/all`, once: 'value' })
    expect([locked.status, locked.headers.get('location')]).toEqual([303, `/l/${link}`])
    expect(await claims(link)).toBe(0)
    await changeLink(host, key, link, { password: null })
    const address = await placeAt(`/l/${link}`)
    expect((await visit(host, `${address}x`, { headers: BEN })).status).toBe(403)
    expect((await send({ action: `/l/${link}/nothing`, once: 'value' })).status).toBe(404)
  })

  test('is not there for a link without a number of downloads, which stays simple', async () => {
    const file = await upload(host, { key, bytes: SMALL })
    const link = await makeLink(host, key, { files: [file.uuid] })
    const html = await (await visit(host, `/l/${link}`)).text()
    expect(elements(html, 'form[method="post"]')).toEqual([])
    expect(elements(html, `a[href="/l/${link}?download=1"]`)).toHaveLength(1)
  })

  test('says the address for programs as text alone', async () => {
    const { link } = await limited()
    const html = await (await visit(host, `/l/${link}`, { headers: ANN })).text()
    expect(elements(html, 'code').map(({ text }) => text)).toContain(`${host.url}/l/${link}?download=1`)
    expect(await downloadBy(link, BEN)).toBe(SMALL.length)
    await untilTaken(link, ['used_up', 1])
  })
})

describe('what a limited file gives in all', () => {
  const thirds = ['bytes=0-999', 'bytes=1000-1999', 'bytes=2000-2999']
  const take = async (link: string, range: string, who: number) => {
    const headers = named(`Visitor/${who}`)
    const status = (await readAll(await addressFor(link, headers), { ...headers, range }))[0]
    await untilOver(link)
    return status
  }

  test('spends a place and is logged once it adds up to the file, whoever took the parts', async () => {
    const { link } = await limited()
    expect(await take(link, thirds[0] ?? '', 1)).toBe(206)
    expect(await take(link, thirds[1] ?? '', 2)).toBe(206)
    expect(await taken(link)).toEqual(['live', 0])
    expect(await take(link, thirds[2] ?? '', 3)).toBe(206)
    await untilTaken(link, ['used_up', 1])
    await usedUp(await visit(host, `/l/${link}?download=1`, { headers: BEN }))
    const log = z.object({ data: z.array(z.object({ kind: z.string(), bytes: z.number().nullable() })) })
    const { data } = log.parse((await api(host, key, 'GET', `/api/v1/links/${link}/log`)).body)
    expect(data.filter(({ kind }) => kind === 'link.first_download')).toMatchObject([{ bytes: SMALL.length }])
  })

  test('adds up over days, and beyond the claims that are kept', async () => {
    const { link } = await limited(2)
    for (const [who, range] of [...thirds, ...thirds].entries()) {
      expect(await take(link, range, who)).toBe(206)
      host.clock.advance(DAY + 1)
      await host.runJobs()
    }
    await untilTaken(link, ['used_up', 2])
  })

  test('is no place when the visitor who broke it off goes on to the end', async () => {
    const { link } = await limited(2)
    const ann = await browser(link)
    const address = await placeAt(`/l/${link}`, ann)
    for (const range of thirds) {
      expect((await readAll(address, { ...ann, range }))[0]).toBe(206)
      await untilOver(link)
    }
    await untilTaken(link, ['live', 1])
  })
})
