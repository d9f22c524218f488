/** What comes by an upload link is downloaded as it comes, by `holdfast receive`. */
// Only in test:all: waits for what comes; download.test.ts and arrivals.test.ts have its parts.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { z } from 'zod'
import { type Client, lines, newClient } from '../../support/cli/client.ts'
import { api } from '../../support/clients/api.ts'
import { makeLink } from '../../support/clients/links.ts'
import { GENEROUS, makeFolder, randomBytes } from '../../support/clients/public.ts'
import { metadata, TUS, tus } from '../../support/clients/tus.ts'
import { eventually } from '../../support/eventually.ts'
import { onCluster, startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

let host: TestHoldfast
let key: string
let client: Client
beforeAll(async () => {
  host = await startHoldfast(GENEROUS)
  key = (await host.addAccount('ann')).apiKey
  client = newClient()
  await client.login(host.url, key)
})
afterAll(async () => {
  client[Symbol.dispose]()
  await host.stop()
})

const bodies = randomBytes(6_000_000)
const HALF = 3_000_000

async function asked(): Promise<string> {
  const folder = await makeFolder(host, key, { public: 0 })
  return makeLink(host, key, { folders: [folder], uploads: { fields: { sender: 'optional' } } })
}

const send = (link: string, name: string, body: string) =>
  api(host).send(`/l/${link}/${name}?sender=Ben`, {
    method: 'PUT',
    body,
    headers: { accept: 'application/json' },
  })

/** Of the lists of what was received, each of which is written once its file has its name. */
function notedBytes(): number {
  const lists = [...new Glob('**/holdfast/received/*').scanSync({ cwd: client.home, dot: true })]
  return lists.reduce((sum, list) => sum + statSync(join(client.home, list)).size, 0)
}

/** For what is the same on every store. */
const testOnce = test.skipIf(onCluster)

const read = (...names: string[]) => readFileSync(join(client.folder, ...names))

test('what has come and what is coming is received once, into the folders that it has; it ends when all is here', async () => {
  const link = await asked()
  await send(link, 'early.txt', 'early')
  const headers = (name: string, path: string) => ({
    ...TUS,
    'upload-length': String(bodies.length),
    'upload-metadata': metadata({ filename: name, relativePath: path, sender: 'Cy' }),
  })
  const begun = await api(host).send(`/api/v1/links/${link}/uploads`, {
    method: 'POST',
    headers: headers('film.bin', 'Trip/film.bin'),
  })
  const place = begun.headers.get('location') ?? ''
  await tus(api(host)).patch(place, 0, bodies.subarray(0, HALF))
  const receiving = client.start('receive', `${host.url}/l/${link}`, '--output', 'in', '--once', '--json')
  await eventually('the first is here', () => existsSync(join(client.folder, 'in/early.txt')))
  const shape = z.object({
    data: z.array(z.object({ arriving: z.object({ slug: z.string() }).nullable() })),
  })
  const { data } = shape.parse((await api(host, key).get(`/api/v1/links/${link}/contributions`)).body)
  const slug = data.find(({ arriving }) => arriving !== null)?.arriving?.slug
  const part = join('in', `${slug}.arriving.part`)
  const hasCome = () => existsSync(join(client.folder, part)) && read(part).length === HALF
  await eventually('the second comes while it is sent', hasCome)
  await tus(api(host)).patch(place, HALF, bodies.subarray(HALF))
  const { code, output, errors } = await receiving.outcome
  expect({ code, errors: errors.trim() }).toEqual({
    code: 0,
    errors: `Waiting for what comes by ${host.url}/l/${link}`,
  })
  const [first, ...files] = lines(output).map((line) => JSON.parse(line))
  expect(first).toMatchObject({ link: { slug: link } })
  expect(files).toMatchObject([
    { path: join(client.folder, 'in/early.txt'), size: 5, sender: 'Ben' },
    { path: join(client.folder, 'in/Trip/film.bin'), size: bodies.length, sender: 'Cy' },
  ])
  expect(read('in/Trip/film.bin').equals(bodies)).toBe(true)
  expect(existsSync(join(client.folder, 'in/Trip/film.bin.part'))).toBe(false)
  // What was moved away is not fetched again.
  rmSync(join(client.folder, 'in/early.txt'))
  await send(link, 'late.txt', 'late')
  const again = await client.run('receive', link, '--output', 'in', '--once')
  expect([again.code, lines(again.output)]).toEqual([0, [join(client.folder, 'in/late.txt')]])
})

testOnce(
  'killed while something comes, it goes on with the same link; a link that is over ends it',
  async () => {
    const { code, output } = await client.run('receive', '--max-files', '1', '--until', '1d', '--help')
    expect([code, output.includes('--once')]).toEqual([0, true])
    const link = await asked()
    const before = notedBytes()
    const waiting = client.start('receive', link, '--output', 'killed')
    await send(link, 'one.txt', 'one')
    await eventually('it is noted as received', () => notedBytes() > before)
    await waiting.kill()
    await send(link, 'two.txt', 'two')
    await api(host, key).send(`/api/v1/links/${link}`, { method: 'DELETE' })
    const over = await client.run('receive', link, '--output', 'killed')
    expect([over.code, lines(over.output)]).toEqual([0, [join(client.folder, 'killed/two.txt')]])
  },
)

testOnce('without a link it makes one, which is gone with --once when something has come', async () => {
  const receiving = client.start('receive', '--once', '--output', 'new', '--json')
  const links = z.object({
    data: z.array(z.object({ slug: z.string(), title: z.string(), state: z.string() })),
  })
  const newest = async () => links.parse((await api(host, key).get('/api/v1/links')).body).data[0]
  await eventually('the link is there', async () => (await newest())?.title === 'Received')
  const { slug } = (await newest()) ?? { slug: '' }
  await send(slug, 'hello.txt', 'hello')
  const { code, output } = await receiving.outcome
  expect([code, lines(output).length]).toEqual([0, 2])
  expect((await newest())?.state).toBe('revoked')
  expect((await client.run('receive', `${host.url}/l/no-such-link`)).errors).toContain('no such link')
})
