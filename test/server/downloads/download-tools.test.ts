/**
 * Download tools that others wrote cut pages with regular expressions. What they miss they report as success, so this is
 * one of them, as literal as they are.
 */
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { api, changeFolder, type Headers, makeFolder, upload, visit } from '../../support/clients/public.ts'
import { HOSTILE_NAMES } from '../../support/contents/hostile-names.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const listing = z.object({ data: z.array(z.object({ name: z.string() })) })
const { host, key } = await ownedHost()

interface Item {
  readonly name: string
  readonly size: number
  readonly link: string
}

interface Walk {
  readonly items: readonly Item[]
  readonly folders: readonly string[]
  readonly pages: number
  readonly title: string
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')
}

function itemsOf(html: string): Item[] {
  return [...html.matchAll(/class="file-item"([\s\S]*?)<\/button>/g)].map(([, cut = '']) => ({
    name: unescaped(/data-name="([^"]*)"/.exec(cut)?.[1] ?? ''),
    size: Number(/data-size="(\d+)"/.exec(cut)?.[1]),
    link: /onclick="[^"]*'(\/d\/[A-Za-z0-9]+)'/.exec(cut)?.[1] ?? '',
  }))
}

/** As a program without a cookie jar gets it: it follows redirects and sends what it was given. */
async function followed(address: string, headers: Headers): Promise<string> {
  const answer = await visit(host, address, { headers })
  return answer.status === 303 ? followed(answer.headers.get('location') ?? '', headers) : answer.text()
}

/** All pages of one folder. `query`: of the link that somebody was given. */
async function walk(folder: string, headers: Headers, query = ''): Promise<Walk> {
  const items: Item[] = []
  const folders: string[] = []
  for (let page = 1; ; page++) {
    const address = `/f/${folder}${page === 1 ? query : `?page=${page}`}`
    const html = await followed(address, headers)
    items.push(...itemsOf(html))
    folders.push(
      ...[...html.matchAll(/class="subfolder-item" href="\/f\/([a-z0-9]{16})"/g)].map(([, id = '']) => id),
    )
    const [, at, pages] = /class="page-info">(\d+)\/(\d+)</.exec(html) ?? []
    const isNext = html.includes(`href="?page=${page + 1}" class="page-link">→<`)
    expect([at, isNext]).toEqual(
      pages === undefined ? [undefined, false] : [String(page), page < Number(pages)],
    )
    if (isNext) continue
    const title = unescaped(/<h1 class="folder-title">([^<]*)<\/h1>/.exec(html)?.[1] ?? '')
    return { items, folders, pages: page, title }
  }
}

/** Gives the password as a tool does, and answers with the cookie for the pages behind it. */
async function unlocked(folder: string, password: string): Promise<Headers> {
  const form = await (await visit(host, `/f/${folder}`)).text()
  const nonce = /id="nonce"[^>]*value="([^"]+)"/.exec(form)?.[1] ?? ''
  const told = Buffer.from(`${password}|${Date.now()}|${nonce}`).toString('base64url')
  const body = new URLSearchParams({ password: told, nonce })
  const answer = await visit(host, `/f/${folder}`, { method: 'POST', body })
  return { cookie: answer.headers.getSetCookie().join('; ').split(';')[0] ?? '' }
}

const NAMES = [
  ...HOSTILE_NAMES.filter((name) => !name.includes('/')),
  '<button class="file-item">.txt',
  'class="page-info">9\u22159<.txt',
  ...Array.from({ length: 188 }, (_, at) => `photo ${at}.txt`),
].slice(0, 210)

describe('silent loss in download tools', async () => {
  const folder = await makeFolder(host, key, { name: 'All & <b>"more"' })
  const inner = await makeFolder(host, key, { parent: folder, name: '<i>"inner"' })
  const kept = new Map<string, string>()
  for (let start = 0; start < NAMES.length; start += 30) {
    await Promise.all(
      NAMES.slice(start, start + 30).map(async (name, at) => {
        const { slug } = await upload(host, { key, folder, name, bytes: new Uint8Array(start + at + 1) })
        kept.set(`/d/${slug}`, String(start + at + 1))
      }),
    )
  }
  await upload(host, { key, folder: inner, name: 'within.txt' })
  const { body } = await api(host, key, 'GET', `/api/v1/folder/${folder}/files`)
  const names = listing.parse(body).data.map(({ name }) => name)

  const found = async (headers: Headers, query = '') => {
    const { items, folders, pages, title } = await walk(folder, headers, query)
    expect(items).toHaveLength(210)
    expect(new Map(items.map(({ link, size }) => [link, String(size)]))).toEqual(kept)
    expect(items.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    expect([folders, pages, title]).toEqual([[inner], 3, 'All & <b>"more"'])
    expect((await walk(inner, headers)).items.map(({ name }) => name)).toEqual(['within.txt'])
  }

  test.each<readonly [string, Headers]>([
    ['', {}],
    ['?view=gallery', {}],
    ['?view=list', { cookie: 'folder_view=gallery' }],
    ['', { 'accept-language': 'de' }],
    ['?view=gallery', { 'accept-language': 'de-AT,de' }],
    ['?sort=size', {}],
    ['?sort=name&order=desc&view=list', {}],
    ['', { cookie: 'folder_order=name-desc; folder_view=gallery' }],
    ['?sort=downloads', { cookie: 'folder_order=size-asc' }],
  ])('all 210 files are found with %p and %p', (query, headers) => found(headers, query))

  test('all 210 files are found behind a password', async () => {
    await changeFolder(host, key, folder, { password: 'sesame' })
    expect(await walk(folder, {})).toMatchObject({ items: [], folders: [] })
    await found(await unlocked(folder, 'sesame'))
    await changeFolder(host, key, folder, { password: null })
  })

  test('another order holds on all pages of a browser, whose addresses are the plain ones', async () => {
    const asked = await visit(host, `/f/${folder}?sort=size&order=asc&page=2`)
    expect([asked.status, asked.headers.get('location')]).toEqual([303, `/f/${folder}?page=2`])
    const [cookie = ''] = asked.headers.getSetCookie().map((each) => each.split(';')[0] ?? '')
    expect(asked.headers.getSetCookie().join()).toContain(`Path=/f/${folder};`)
    const sizes: number[] = []
    let next: string | undefined = `/f/${folder}`
    while (next !== undefined) {
      const html: string = await (await visit(host, next, { headers: { cookie } })).text()
      sizes.push(...itemsOf(html).map(({ size }) => size))
      const [, number] = /href="\?page=(\d+)" class="page-link">→</.exec(html) ?? []
      next = number === undefined ? undefined : `/f/${folder}?page=${number}`
      for (const [, address = ''] of html.matchAll(/href="([^"]*)" class="page-link"/g)) {
        expect(address).toMatch(/^\?(page=\d+)?$/)
      }
    }
    expect(sizes).toEqual(Array.from({ length: 210 }, (_, at) => at + 1))
  })

  test('a folder of one page has its order in the address, and keeps it for a browser with cookies', async () => {
    await upload(host, { key, folder: inner, name: 'another.txt' })
    for (const [order, names] of [
      ['asc', ['another.txt', 'within.txt']],
      ['desc', ['within.txt', 'another.txt']],
    ] as const) {
      const answer = await visit(host, `/f/${inner}?sort=name&order=${order}`)
      expect(answer.status).toBe(200)
      const cookie = answer.headers.getSetCookie().join('; ')
      for (const shown of [answer, await visit(host, `/f/${inner}`, { headers: { cookie } })]) {
        expect(itemsOf(await shown.text()).map(({ name }) => name)).toEqual([...names])
      }
    }
  })

  test('the details of a file stand in their order, the same in every language', async () => {
    const [link = ''] = kept.keys()
    for (const language of ['en', 'de']) {
      const html = await (await visit(host, link, { headers: { 'accept-language': language } })).text()
      const [, details = ''] = /id="detailsContent"[^>]*>([\s\S]*?)<\/div><\/div>/.exec(html) ?? []
      const rows = [...details.matchAll(/<span>([^<]*)<\/span><span>([^<]*)<\/span>/g)]
      expect(rows.slice(0, 5).map(([, label]) => label)).toEqual([
        'UUID',
        'Type',
        'Uploaded',
        'Size',
        'SHA-256',
      ])
      expect(rows[2]?.[2]).toMatch(/^\d{4}-\d\d-\d\dT/)
      expect(rows[3]?.[2]).toMatch(/^\d+ B$/)
    }
  })
})
