/** The log of a link: what is in it, once each, and how it stays small. */
// Only in test:all: link-claims.test.ts counts the same downloads.
import { expect, test } from 'bun:test'
import { z } from 'zod'
import { MOST_ROWS, ONE_BY_ONE } from '../../../../src/core/link-events.rows.ts'
import { DAY, HOUR, MINUTE, timestamp } from '../../../../src/domain/clock.ts'
import type { LinkSlug } from '../../../../src/domain/ids.ts'
import {
  changeLink,
  type LinkFields,
  linkedFile,
  makeLink,
  revokeLink,
} from '../../../support/clients/links.ts'
import {
  api,
  bearer,
  type Headers,
  makeFolder,
  randomBytes,
  upload,
  visit,
  withHoldfast,
} from '../../../support/clients/public.ts'
import { eventually } from '../../../support/eventually.ts'
import { onCluster } from '../../../support/servers/holdfast.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const SIZE = 3000
const file = await upload(host, { key, name: 'one.bin', bytes: randomBytes(SIZE) })
const other = await upload(host, { key, name: 'two.bin', bytes: randomBytes(SIZE) })

const event = z.object({
  kind: z.string(),
  file: z.object({ name: z.string() }).nullable(),
  bytes: z.number().nullable(),
  times: z.number(),
  reason: z.string().nullable(),
  address: z.string().nullable(),
})
const log = z.object({ data: z.array(event), pagination: z.object({ total: z.number() }) })

async function logOf(link: string, query = '?per_page=100', at = { host, key }) {
  const { status, body } = await api(at.host, at.key, 'GET', `/api/v1/links/${link}/log${query}`)
  expect(status).toBe(200)
  return log.parse(body)
}

/** From the oldest on. */
async function linesOf(link: string): Promise<string[]> {
  const { data } = await logOf(link)
  return data.map(({ kind, file: of, reason }) => [kind, reason ?? of?.name ?? ''].join(' ').trim()).reverse()
}

function link(fields: LinkFields = {}): Promise<string> {
  return makeLink(host, key, { files: [file.uuid, other.uuid], ...fields })
}

async function download(
  slug: string,
  of: { readonly file_id: number },
  headers: Headers = {},
): Promise<void> {
  const to = await visit(host, `${await linkedFile(host, slug, of)}?download=1`, { headers })
  expect(to.status).toBe(302)
  const answer = await fetch(new URL(to.headers.get('location') ?? '', host.url), { headers })
  expect([answer.status, (await answer.bytes()).length]).toEqual([200, SIZE])
}

/** What was counted in memory is written by then, at whatever node. */
async function untilLogged(slug: string, count: number): Promise<void> {
  await eventually(`${count} downloads are told of`, async () => {
    await host.runJobs()
    const { data } = await logOf(slug)
    return (
      data.reduce(
        (sum, { kind, times }) =>
          sum + (kind.endsWith('download') || kind.endsWith('downloaded') ? times : 0),
        0,
      ) === count
    )
  })
}

test('downloads are told once each, the first apart, and those of the owner not at all', async () => {
  const slug = await link()
  await download(slug, file)
  await untilLogged(slug, 1)
  await download(slug, other)
  await download(slug, file, bearer(key))
  const zip = await visit(host, `/l/${slug}?download=zip`)
  const { length } = await zip.bytes()
  await untilLogged(slug, 3)
  const { data, pagination } = await logOf(slug)
  expect(pagination.total).toBe(3)
  expect(data[2]).toMatchObject({
    kind: 'link.first_download',
    file: { name: 'one.bin' },
    bytes: SIZE,
    times: 1,
    address: null,
  })
  const later = data.slice(0, 2).map(({ kind, file: of, bytes }) => [kind, of?.name, bytes].join(' '))
  expect(later.sort()).toEqual([
    `link.downloaded one.bin + 1.zip ${length}`,
    `link.downloaded two.bin ${SIZE}`,
  ])
  expect((await logOf(slug, '?per_page=1&page=3')).data).toEqual(data.slice(2))
})

test('the last download of a limited link ends it, once it is over', async () => {
  const slug = await link({ max_downloads: 2 })
  await download(slug, file, { 'user-agent': 'Ann/1' })
  await untilLogged(slug, 1)
  await download(slug, other, { 'user-agent': 'Ben/1' })
  await untilLogged(slug, 2)
  const lines = ['link.first_download one.bin', 'link.downloaded two.bin', 'link.ended downloads']
  expect(await linesOf(slug)).toEqual(lines)
  await revokeLink(host, key, slug)
  expect(await linesOf(slug)).toEqual(lines)
  const timed = await link({ ends_at: timestamp(host.clock.now() + HOUR) })
  host.clock.advance(HOUR)
  await revokeLink(host, key, timed)
  expect(await linesOf(timed)).toContain('link.ended time')
})

test('what comes by a link is in its log, that it is full whenever it becomes so, and its revocation', async () => {
  const folder = await makeFolder(host, key)
  const slug = await makeLink(host, key, { folders: [folder], uploads: { max_files: 1 } })
  const put = () => visit(host, `/l/${slug}/letter.txt`, { method: 'PUT', body: randomBytes(7) })
  const sent = await put()
  expect(sent.status).toBe(200)
  const full = ['link.arrived letter.txt', 'link.ended full']
  expect(await linesOf(slug)).toEqual(full)
  expect((await logOf(slug)).data[1]).toMatchObject({ bytes: 7, address: null })
  const receipt = `/api/v1/receipt/${sent.headers.get('holdfast-receipt')}`
  expect((await visit(host, receipt, { method: 'DELETE' })).status).toBe(200)
  expect((await put()).status).toBe(200)
  expect(await linesOf(slug)).toEqual([...full, ...full])
  await changeLink(host, key, slug, { uploads: { max_size: 100, max_files: null } })
  await revokeLink(host, key, slug)
  expect(await linesOf(slug)).toEqual([...full, ...full, 'link.ended revoked'])
  const { status } = await api(host, (await host.addAccount()).apiKey, 'GET', `/api/v1/links/${slug}/log`)
  expect(status).toBe(404)
})

test('of very many downloads some are one event', async () => {
  const slug = await link()
  const many = MOST_ROWS + 5
  for (let at = 0; at < many; at++) await download(slug, file)
  await untilLogged(slug, MOST_ROWS)
  await eventually('the others are counted', async () => {
    const row = host.database
      .selectFrom('links')
      .select('pending_count')
      .where('slug', '=', slug as LinkSlug)
    return (await row.executeTakeFirst())?.pending_count === many - MOST_ROWS
  })
  host.clock.advance(ONE_BY_ONE)
  await untilLogged(slug, many)
  const { data } = await logOf(slug)
  expect(data).toHaveLength(MOST_ROWS + 1)
  expect(data[0]).toMatchObject({ kind: 'link.downloaded', times: 5, bytes: 5 * SIZE, file: null })
})

test.skipIf(onCluster)('addresses are in it where the operator says so', async () => {
  await withHoldfast({ linkAddresses: true }, async (at) => {
    const { apiKey } = await at.addAccount()
    const folder = await makeFolder(at, apiKey)
    const slug = await makeLink(at, apiKey, { folders: [folder], uploads: {} })
    expect((await visit(at, `/l/${slug}/a.txt`, { method: 'PUT', body: 'a' })).status).toBe(200)
    expect((await logOf(slug, '', { host: at, key: apiKey })).data[0]?.address).toBe('127.0.0.1')
  })
})

test('an end is told a day before and when it has come, and again when it is another', async () => {
  const until = (time: number) => timestamp(host.clock.now() + time)
  const [long, short] = [await link({ ends_at: until(3 * DAY) }), await link({ ends_at: until(DAY) })]
  const other = await link({ ends_at: until(DAY) })
  await changeLink(host, key, other, { max_downloads: 5 })
  await host.runJobs()
  host.clock.advance(2 * DAY + MINUTE)
  await host.runJobs()
  await host.runJobs()
  expect(await linesOf(long)).toEqual(['link.ends_soon'])
  for (const brief of [short, other]) expect(await linesOf(brief)).toEqual(['link.ended time'])
  host.clock.advance(DAY)
  await host.runJobs()
  expect(await linesOf(long)).toEqual(['link.ends_soon', 'link.ended time'])
  await changeLink(host, key, long, { ends_at: until(DAY) })
  host.clock.advance(DAY + HOUR)
  await host.runJobs()
  expect(await linesOf(long)).toEqual(['link.ends_soon', 'link.ended time', 'link.ended time'])
  host.clock.advance(90 * DAY)
  await host.runJobs()
  expect((await api(host, key, 'GET', `/api/v1/links/${long}/log`)).status).toBe(404)
})
