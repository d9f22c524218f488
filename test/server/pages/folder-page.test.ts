import { describe, expect, test } from 'bun:test'
import { fileNames, readPage } from '../../support/clients/folder-page.ts'
import {
  api,
  bearer,
  changeFolder,
  deleteFile,
  elements,
  type Headers,
  makeFolder,
  upload,
  visit,
} from '../../support/clients/public.ts'
import { PNG } from '../../support/contents/picture.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()

const page = (address: string, headers: Headers = {}) => readPage(host, address, headers)

function subfolders(html: string): string[] {
  return elements(html, 'a.subfolder-item').map(
    (link) => new URL(link.attributes.href ?? '', host.url).pathname,
  )
}

function nextPage(html: string): string | undefined {
  return elements(html, 'a.page-link').find((link) => link.text === '→')?.attributes.href
}

describe('the page of a folder', () => {
  test('is HTML that depends on who asks, with GET and HEAD', async () => {
    const folder = await makeFolder(host, key)
    for (const method of ['GET', 'HEAD']) {
      const response = await visit(host, `/f/${folder}`, { method })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toStartWith('text/html')
      expect(response.headers.get('cache-control')).toContain('private')
    }
  })

  test('carries the name, size, date and link of every file', async () => {
    const folder = await makeFolder(host, key)
    const file = await upload(host, { key, folder, name: 'naïve "report".txt', bytes: new Uint8Array(1234) })
    const renamed = { name: 'naïve "report".txt' }
    await api(host, key, 'PATCH', `/api/v1/file/${file.slug}`, renamed)
    const items = elements(await page(`/f/${folder}`), '.file-item')
    expect(items).toHaveLength(1)
    const attributes = items[0]?.attributes ?? {}
    expect(attributes['data-name']).toBe(renamed.name)
    expect(attributes['data-size']).toBe('1234')
    expect(attributes.onclick).toContain(`'/d/${file.slug}'`)
    expect(new Date(attributes['data-date'] ?? '').getTime()).toBeLessThanOrEqual(host.clock.now())
  })

  test('shows its direct files only, and links its subfolders', async () => {
    const folder = await makeFolder(host, key)
    const inner = await makeFolder(host, key, { parent: folder, name: 'inner' })
    const innermost = await makeFolder(host, key, { parent: inner })
    await upload(host, { key, folder, name: 'outer.txt' })
    await upload(host, { key, folder: inner, name: 'inner.txt' })
    const html = await page(`/f/${folder}`)
    expect(fileNames(html)).toEqual(['outer.txt'])
    expect(subfolders(html)).toEqual([`/f/${inner}`])
    expect(subfolders(await page(`/f/${inner}`))).toEqual([`/f/${innermost}`])
  })

  test('hides a private subfolder from everybody but the owner', async () => {
    const folder = await makeFolder(host, key)
    const hidden = await makeFolder(host, key, { parent: folder, name: 'hidden drawer', public: 0 })
    const html = await page(`/f/${folder}`)
    expect(subfolders(html)).toEqual([])
    expect(html).not.toContain('hidden drawer')
    expect(subfolders(await page(`/f/${folder}`, bearer(key)))).toEqual([`/f/${hidden}`])
  })

  test('shows nothing of what is inside a locked subfolder', async () => {
    const folder = await makeFolder(host, key)
    const locked = await makeFolder(host, key, { parent: folder, password: 'sesame' })
    const below = await makeFolder(host, key, { parent: locked, name: 'below the lock' })
    await upload(host, { key, folder: locked, name: 'inside.txt' })
    const html = await page(`/f/${folder}`)
    expect(html).not.toContain('inside.txt')
    expect(html).not.toContain('below the lock')
    expect(html).not.toContain(below)
  })

  test('leads through all of many files, page by page, each file once', async () => {
    const folder = await makeFolder(host, key)
    const names = Array.from({ length: 130 }, (_, index) => `file ${index}.txt`)
    for (let start = 0; start < names.length; start += 10) {
      await Promise.all(names.slice(start, start + 10).map((name) => upload(host, { key, folder, name })))
    }
    const seen: string[] = []
    let pages = 0
    for (let next: string | undefined = `/f/${folder}`; next !== undefined && pages < 200; pages += 1) {
      const html: string = await page(next)
      seen.push(...fileNames(html))
      const link = nextPage(html)
      next = link === undefined ? undefined : new URL(link, new URL(next, host.url)).href
    }
    expect(pages).toBeGreaterThan(1)
    expect(seen.toSorted()).toEqual(names.toSorted())
  })

  test('has no next page when everything fits', async () => {
    const folder = await makeFolder(host, key)
    await upload(host, { key, folder })
    expect(nextPage(await page(`/f/${folder}`))).toBeUndefined()
  })

  test.each(['0', '-1', 'x', '1.5', '99999999999999999999'])(
    'answers the page number %p without failing',
    async (number) => {
      const folder = await makeFolder(host, key)
      const response = await visit(host, `/f/${folder}?page=${number}`)
      expect(response.status).toBeLessThan(500)
    },
  )

  test.each([
    ['one page', 1, 2],
    ['a hundred files', 100, 2],
    ['one file more', 101, 3],
    ['any number of pages', 1, 999_999_999],
  ])('past its end, after %s, has no items and no pager', async (_, count, number) => {
    const folder = await makeFolder(host, key)
    const names = Array.from({ length: count }, (_, index) => `${index}.txt`)
    await Promise.all(names.map((name) => upload(host, { key, folder, name })))
    const html = await page(`/f/${folder}?page=${number}`)
    expect(fileNames(html)).toEqual([])
    expect(elements(html, '.pager')).toEqual([])
    expect(elements(html, '.page-info')).toEqual([])
    expect(elements(html, 'h1.folder-title')).toHaveLength(1)
  })

  test('tells its date, its direct files and their size in the order that programs read', async () => {
    const folder = await makeFolder(host, key, { name: 'Summer' })
    const inner = await makeFolder(host, key, { parent: folder })
    const hidden = await makeFolder(host, key, { parent: folder, public: 0 })
    const head = (language: string) => page(`/f/${folder}`, { 'accept-language': language })
    const day = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(
      host.clock.now(),
    )
    const facts = (files: string, size: string) =>
      `<span>Created ${day}</span><span>${files}</span><span>${size}</span>`
    expect(await head('en')).toContain(facts('0 files', '0 B'))
    await upload(host, { key, folder, bytes: new Uint8Array(1024) })
    await upload(host, { key, folder: inner, bytes: new Uint8Array(5000) })
    await upload(host, { key, folder: hidden, bytes: new Uint8Array(7000) })
    expect(await head('de')).toContain(facts('1 file', '1 KB'))
    await upload(host, { key, folder, bytes: PNG, name: 'a.png' })
    const html = await head('de')
    expect(html).toContain(facts('2 files', '1.1 KB'))
    expect(html).toContain('property="og:title" content="Summer"')
    // The preview's address, if there is one, comes before them: programs read on from it.
    const picture = html.indexOf('/card.jpg')
    expect(picture).toBeGreaterThan(html.indexOf('og:title'))
    expect(picture).toBeLessThan(html.indexOf('<span>Created'))
  })

  test('forgets a deleted file at once', async () => {
    const folder = await makeFolder(host, key)
    const file = await upload(host, { key, folder, name: 'short-lived.txt' })
    await deleteFile(host, key, file.slug)
    expect(await page(`/f/${folder}`)).not.toContain('short-lived.txt')
  })

  test('never turns names into markup', async () => {
    const name = '<img src=x onerror=alert(1)>'
    const folder = await makeFolder(host, key, { name })
    await makeFolder(host, key, { parent: folder, name })
    const file = await upload(host, { key, folder })
    await api(host, key, 'PATCH', `/api/v1/file/${file.slug}`, { name })
    const html = await page(`/f/${folder}`)
    expect(fileNames(html)).toEqual([name])
    expect(elements(html, '[onerror]')).toEqual([])
  })

  test('is 404 for an identifier that nobody has, with GET and HEAD', async () => {
    for (const method of ['GET', 'HEAD']) {
      const headers = { accept: 'text/html' }
      const response = await visit(host, '/f/aaaaaaaaaaaaaaaa', { method, headers })
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toStartWith('text/html')
    }
    expect((await visit(host, '/f/root')).status).toBe(404)
  })

  test('goes with the folder, and with any folder above it', async () => {
    const outer = await makeFolder(host, key)
    const inner = await makeFolder(host, key, { parent: outer })
    const file = await upload(host, { key, folder: inner })
    await api(host, key, 'POST', '/folder/delete', { identifiers: [outer] })
    expect((await visit(host, `/f/${outer}`)).status).toBe(404)
    expect((await visit(host, `/f/${inner}`)).status).toBe(404)
    expect((await visit(host, `/d/${file.slug}`)).status).toBe(404)
  })

  test('follows a change between public and private at once', async () => {
    const folder = await makeFolder(host, key)
    await changeFolder(host, key, folder, { public: 0 })
    expect((await visit(host, `/f/${folder}`)).status).toBe(404)
    await changeFolder(host, key, folder, { public: 1 })
    expect((await visit(host, `/f/${folder}`)).status).toBe(200)
  })
})
