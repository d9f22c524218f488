/** How the page of a folder is arranged: sorted, in pages, as a list or a gallery. */
import { describe, expect, test } from 'bun:test'
import { fileNames, readPage } from '../../../support/clients/folder-page.ts'
import {
  bearer,
  elements,
  type Headers,
  type HtmlElement,
  makeFolder,
  randomBytes,
  upload,
  visit,
} from '../../../support/clients/public.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()

const page = (address: string, headers: Headers = {}) => readPage(host, address, headers)

/** As a browser gets pages: it follows redirects, and keeps the cookies that they bring. */
function browser(own: Headers = {}): (address: string) => Promise<string> {
  const cookies = new Map<string, string>()
  return async function open(address) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const response = await visit(host, address, { headers: { ...own, cookie } })
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      cookies.set(name, value)
    }
    if (response.status === 303) return open(response.headers.get('location') ?? '')
    expect(response.status).toBe(200)
    return response.text()
  }
}

function subfolders(html: string): string[] {
  return elements(html, 'a.subfolder-item bdi').map(({ attributes }) => attributes.title ?? '')
}

function linkTo(html: string, selector: string, isWanted: (link: HtmlElement) => boolean): string {
  const link = elements(html, selector).find(isWanted)
  if (link === undefined) throw new Error(`there is no such link among ${selector}`)
  return link.attributes.href ?? ''
}

/** Files that each order puts differently; the one named last has been downloaded. */
async function mixedFolder(): Promise<string> {
  const folder = await makeFolder(host, key)
  const sizes = { 'beta.txt': 30, 'Alpha.txt': 10, 'gamma.txt': 20 }
  for (const [name, size] of Object.entries(sizes)) {
    const file = await upload(host, { key, folder, name, bytes: randomBytes(size) })
    host.clock.advance(1000)
    if (name === 'gamma.txt') await (await fetch(`${host.url}/d/${file.slug}?download=1`)).bytes()
  }
  await host.runJobs()
  return folder
}

describe('files are sorted', () => {
  const newestFirst = ['gamma.txt', 'Alpha.txt', 'beta.txt']
  const byName = ['Alpha.txt', 'beta.txt', 'gamma.txt']

  test.each([
    ['', byName],
    ['?sort=created_at', newestFirst],
    ['?sort=created_at&order=asc', newestFirst.toReversed()],
    ['?sort=name', byName],
    ['?sort=name&order=desc', byName.toReversed()],
    ['?sort=size', ['beta.txt', 'gamma.txt', 'Alpha.txt']],
    ['?sort=size&order=asc', ['Alpha.txt', 'gamma.txt', 'beta.txt']],
    ['?sort=downloads', ['gamma.txt', 'Alpha.txt', 'beta.txt']],
    ['?sort=downloads&order=asc', ['beta.txt', 'Alpha.txt', 'gamma.txt']],
    ['?sort=colour&order=sideways', byName],
  ])('by %p', async (query, names) => {
    const folder = await mixedFolder()
    expect(fileNames(await page(`/f/${folder}${query}`))).toEqual(names)
  })

  test('by links that turn around when they are followed again, and say how it is now', async () => {
    const folder = await mixedFolder()
    const isBySize = ({ attributes }: HtmlElement) => /sort=size/.test(attributes.href ?? '')
    const once = linkTo(await page(`/f/${folder}`), '.sorts a', isBySize)
    const sorted = await page(`/f/${folder}${once}`)
    expect(fileNames(sorted)).toEqual(['beta.txt', 'gamma.txt', 'Alpha.txt'])
    expect(elements(sorted, '.sorts a[aria-current=true]')).toHaveLength(1)
    const again = linkTo(sorted, '.sorts a[aria-current=true]', isBySize)
    expect(fileNames(await page(`/f/${folder}${again}`))).toEqual(['Alpha.txt', 'gamma.txt', 'beta.txt'])
  })
})

describe('subfolders', () => {
  test('stand by their names, whatever files are sorted by, without regard to case', async () => {
    const folder = await makeFolder(host, key)
    for (const name of ['beta', 'Alpha', 'gamma']) await makeFolder(host, key, { parent: folder, name })
    expect(subfolders(await page(`/f/${folder}`))).toEqual(['Alpha', 'beta', 'gamma'])
    expect(subfolders(await page(`/f/${folder}?sort=size`))).toEqual(['Alpha', 'beta', 'gamma'])
    expect(subfolders(await page(`/f/${folder}?sort=name&order=desc`))).toEqual(['gamma', 'beta', 'Alpha'])
  })

  test('fill pages of their own when there are many, and the files come after them in every order', async () => {
    const folder = await makeFolder(host, key)
    const names = Array.from({ length: 105 }, (_, at) => `folder ${String(at).padStart(3, '0')}`)
    await Promise.all(names.map((name) => makeFolder(host, key, { parent: folder, name })))
    await makeFolder(host, key, { parent: folder, name: 'folder 000 secret', public: 0 })
    await upload(host, { key, folder, name: 'b.txt' })
    await upload(host, { key, folder, name: 'a.txt' })

    const open = browser()
    const first = await open(`/f/${folder}?sort=name`)
    expect(subfolders(first)).toEqual(names.slice(0, 100))
    expect(fileNames(first)).toEqual([])
    const second = await open(`/f/${folder}${linkTo(first, 'a.page-link', ({ text }) => text === '→')}`)
    expect(subfolders(second)).toEqual(names.slice(100))
    expect(fileNames(second)).toEqual(['a.txt', 'b.txt'])
    expect(fileNames(await open(`/f/${folder}${linkTo(first, 'a.to-files', () => true)}`))).toHaveLength(2)

    const owners = subfolders(await browser(bearer(key))(`/f/${folder}?sort=name&order=desc&page=2`))
    expect(owners).toEqual(
      [
        'folder 005',
        'folder 004',
        'folder 003',
        'folder 002',
        'folder 001',
        'folder 000 secret',
        'folder 000',
      ].slice(1),
    )
  }, 120_000)
})

describe('pages', () => {
  test('keep the order that was asked for', async () => {
    const folder = await makeFolder(host, key)
    const names = Array.from({ length: 101 }, (_, at) => `${String(at).padStart(3, '0')}.txt`)
    await Promise.all(names.map((name) => upload(host, { key, folder, name })))
    const open = browser()
    const first = await open(`/f/${folder}?sort=name&order=desc&view=gallery`)
    const next = linkTo(first, 'a.page-link', ({ text }) => text === '→')
    const second = await open(`/f/${folder}${next}`)
    expect([...fileNames(first), ...fileNames(second)]).toEqual(names.toReversed())
    expect(elements(second, 'ul.gallery')).toHaveLength(1)
    expect(linkTo(second, 'a.page-link', ({ text }) => text === '←')).not.toContain('page=')
  }, 120_000)
})

describe('the look', () => {
  async function folderOf(names: readonly string[]): Promise<string> {
    const folder = await makeFolder(host, key)
    for (const name of names) await upload(host, { key, folder, name })
    return folder
  }
  const look = (html: string) => elements(html, 'ul.files')[0]?.attributes.class

  test('is a gallery where most files are pictures or video, else a list', async () => {
    expect(look(await page(`/f/${await folderOf(['a.jpg', 'b.mp4', 'c.txt'])}`))).toContain('gallery')
    expect(look(await page(`/f/${await folderOf(['a.jpg', 'b.txt'])}`))).toContain('list')
  })

  test('is changed by a link and stays so for that folder in that browser', async () => {
    const folder = await folderOf(['a.jpg'])
    const toList = linkTo(await page(`/f/${folder}`), '.looks a', ({ attributes }) =>
      (attributes.href ?? '').includes('view=list'),
    )
    const changed = await visit(host, `/f/${folder}${toList}`)
    expect(look(await changed.text())).toContain('list')
    const [cookie = ''] = changed.headers.getSetCookie()
    expect(cookie).toContain(`Path=/f/${folder}`)
    expect(cookie).toContain('HttpOnly')
    const remembered = { cookie: cookie.split(';')[0] ?? '' }
    expect(look(await page(`/f/${folder}`, remembered))).toContain('list')

    const back = await visit(host, `/f/${folder}?view=gallery`, { headers: remembered })
    expect(back.headers.getSetCookie()[0]).toContain('Max-Age=0')
  })

  test('that the folder has by itself is not remembered', async () => {
    const folder = await folderOf(['a.txt'])
    const response = await visit(host, `/f/${folder}?view=list`)
    const cookies = response.headers.getSetCookie()
    expect(cookies.filter((cookie) => cookie.includes(`Path=/f/${folder}`))).toEqual([])
  })
})
