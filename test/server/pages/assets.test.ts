import { describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { acceptedEncoding } from '../../../src/server/answers/answers.ts'
import { elements, visit } from '../../support/clients/public.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const { host } = await ownedHost()

/** What the start page loads: stylesheets, modules and the icon. */
const addresses = await loadedBy('/')
const stylesheets = addresses.filter((address) => address.endsWith('.css'))

async function loadedBy(page: string): Promise<string[]> {
  const html = await (await visit(host, page)).text()
  const links = elements(html, 'link[href]').map(({ attributes }) => attributes.href ?? '')
  const scripts = elements(html, 'script[src]').map(({ attributes }) => attributes.src ?? '')
  return [...links, ...scripts]
}

/** As it comes over the line. */
async function raw(address: string, acceptEncoding: string) {
  const headers = { 'accept-encoding': acceptEncoding }
  const response = await fetch(new URL(address, host.url), { headers, decompress: false })
  return { response, body: await response.bytes() }
}

test('a page loads a stylesheet, a font, a script and an icon, all from here', () => {
  for (const ending of ['css', 'woff2', 'js', 'svg']) {
    expect(addresses).toContainEqual(
      expect.stringMatching(new RegExp(`^/assets/[\\w-]+-\\w{8}\\.${ending}$`)),
    )
  }
  expect(addresses.filter((address) => !address.startsWith('/assets/'))).toEqual([])
})

test.each(addresses)(
  '%s may be kept for ever, and comes as small as the browser takes it',
  async (address) => {
    const plain = await raw(address, 'identity')
    expect(plain.response.status).toBe(200)
    expect(plain.response.headers.get('content-encoding')).toBeNull()
    const dense = /\.(png|woff2)$/.exec(address)?.[1]
    if (dense !== undefined) {
      const asked = await raw(address, 'gzip, deflate, br, zstd')
      expect(asked.response.headers.get('content-encoding')).toBeNull()
      expect(asked.response.headers.get('content-type')).toBe(dense === 'png' ? 'image/png' : 'font/woff2')
      return
    }
    const zipped = await raw(address, 'gzip, deflate')
    expect(zipped.response.headers.get('content-encoding')).toBe('gzip')
    expect(Buffer.from(gunzipSync(zipped.body)).equals(plain.body)).toBe(true)
    const brotli = await raw(address, 'gzip, deflate, br, zstd')
    expect(brotli.response.headers.get('content-encoding')).toBe('br')
    expect(Buffer.from(brotliDecompressSync(brotli.body)).equals(plain.body)).toBe(true)
    for (const { response } of [plain, zipped, brotli]) {
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(response.headers.get('vary')).toBe('Accept-Encoding')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('content-type')).toMatch(
        /^(text\/(css|javascript); charset=utf-8|image\/svg\+xml|application\/manifest\+json)$/,
      )
    }
  },
)

test.each([
  ['favicon.ico', 'image/x-icon', 'PNG'],
  ['apple-touch-icon.png', 'image/png', 'PNG'],
  ['icon-192.png', 'image/png', 'PNG'],
  ['icon-512.png', 'image/png', 'PNG'],
  ['site.webmanifest', 'application/manifest+json', '"/icon-512.png"'],
  ['robots.txt', 'text/plain; charset=utf-8', 'Disallow: /api/'],
])('/%s is where browsers and crawlers ask for it', async (name, type, part) => {
  const answer = await visit(host, `/${name}`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe(type)
  expect(answer.headers.get('cache-control')).toBe('public, max-age=86400')
  expect(await answer.text()).toContain(part)
})

test('a file of such a name is uploaded there all the same, and nothing else is found there', async () => {
  const put = await fetch(`${host.url}/robots.txt`, { method: 'PUT', body: 'mine' })
  expect(put.status).toBe(200)
  expect((await visit(host, '/robots.txt')).headers.get('content-length')).not.toBe('4')
  for (const name of ['humans.txt', '__proto__', 'favicon.svg.gz']) {
    expect((await visit(host, `/${name}`)).status).toBe(404)
  }
})

test('stylesheets load nothing from elsewhere, and wait for no script to be dark', async () => {
  for (const address of stylesheets) {
    const css = await (await visit(host, address)).text()
    expect(css).not.toMatch(/https?:|url\((?!"?\/assets\/)|@import/)
    expect(css).not.toContain('data-mantine-color-scheme')
  }
})

test.each([
  '/assets/shared-00000000.css',
  '/assets/manifest.json',
  '/assets/..%2fmanifest.json',
  '/assets/%2e%2e/manifest.json',
  `${addresses[0]}.br`,
  `${addresses[0]}.gz`,
  '/assets/',
  '/assets/a/b.css',
])('there is nothing at %s', async (address) => {
  const response = await visit(host, address, { headers: { accept: 'text/html' } })
  expect(response.status).toBe(404)
  expect(response.headers.get('cache-control')).toContain('no-store')
})

describe('the encoding of an asset', () => {
  test.each([
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['br;q=1.0, gzip;q=0.8', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['GZIP; Q=0.5', 'gzip'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=nonsense', 'identity'],
    ['identity', 'identity'],
    [';;,,=', 'identity'],
  ] as const)('for %p is %s', (header, encoding) => {
    expect(acceptedEncoding(header)).toBe(encoding)
  })
})
