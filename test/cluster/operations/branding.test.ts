/** The operator's own name, logo, colour and texts, on every page of every node. */
import { beforeAll, expect, test } from 'bun:test'
import sharp from 'sharp'
import { api } from '../../support/clients/api.ts'
import { elements, visit } from '../../support/clients/public.ts'
import { sessionHeaders } from '../../support/clients/site-visitor.ts'
import { picture } from '../../support/contents/pictures.ts'
import { eventually } from '../../support/eventually.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'
import { administrator, type TestAdministrator } from '../../support/sign-in/administrator.ts'

let admin: TestAdministrator
const host = await hostOfFile({ rateLimit: 1_000_000, sessionRateLimit: 1_000_000 })
beforeAll(async () => {
  admin = await administrator(host)
}, 120_000)

const NOTHING = { name: null, accent: null, start_text: null, legal: { imprint: '', privacy: '', terms: '' } }

async function page(path = '/'): Promise<string> {
  return await (await visit(host, path, { headers: { accept: 'text/html' } })).text()
}

/** Asked often enough to have met every node. */
async function onEveryNode(what: string, holds: (html: string) => boolean): Promise<void> {
  await eventually(what, async () =>
    (await Promise.all(Array.from({ length: 12 }, () => page()))).every(holds),
  )
}

test('a name and a colour stand on every page, and are gone once they are taken back', async () => {
  await admin.act('PATCH', '/branding', { name: ' Files <of> Example ', accent: '#1D4ED8' })
  await onEveryNode('the name is shown', (html) => html.includes('Files &lt;of&gt; Example</span>'))
  for (const path of ['/', '/sign-in', '/docs', '/d/nothing']) {
    const html = await page(path)
    expect(html).toContain('· Files &lt;of&gt; Example</title>')
    expect(html).toContain('<meta name="application-name" content="Files &lt;of&gt; Example"/>')
    expect(html).toContain('href="/branding/accent-1d4ed8.css"')
  }
  expect(await page()).toContain('property="og:site_name" content="Files &lt;of&gt; Example"')
  const style = await visit(host, '/branding/accent-1d4ed8.css')
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
  expect(style.headers.get('cache-control')).toContain('immutable')
  expect(await style.text()).toStartWith(':root{--accent:#1d4ed8;')
  const manifest = await visit(host, '/site.webmanifest')
  expect(await manifest.json()).toMatchObject({ name: 'Files <of> Example', theme_color: '#1d4ed8' })
  expect((await admin.deeds('branding.set'))[0]?.details).toEqual({ changed: 'name, accent' })

  await admin.act('PATCH', '/branding', NOTHING)
  await onEveryNode('the name is gone', (html) => html.includes('· Holdfast</title>'))
  expect(await page()).not.toContain('/branding/')
})

test.each([
  ['the colour is too light', { accent: '#ffcc00' }, 'INVALID_REQUEST'],
  ['the colour is none', { accent: 'red;}' }, 'INVALID_REQUEST'],
  ['the name is too long', { name: 'x'.repeat(41) }, 'INVALID_REQUEST'],
  ['the name has line breaks', { name: 'a\nb' }, 'INVALID_NAME'],
  ['the text is too long', { start_text: 'x'.repeat(1001) }, 'INVALID_REQUEST'],
  ['there is no such page', { legal: { cookies: 'x' } }, 'UNKNOWN_FIELD'],
])('is refused when %s', async (_, change, error) => {
  expect((await admin.send('PATCH', '/api/v1/admin/branding', change)).error).toBe(error)
})

test('stylesheets exist for colours that can be read, and for nothing else', async () => {
  for (const name of [
    'accent-ffcc00.css',
    'accent-12.css',
    'accent-1d4ed8%3b.css',
    'logo-00.webp',
    'x.css',
  ]) {
    expect((await visit(host, `/branding/${name}`)).status).toBe(404)
  }
})

test('texts are Markdown, in which HTML and scripts are text', async () => {
  expect((await visit(host, '/legal/imprint')).status).toBe(404)
  const text = '**Example** <b onclick="x()">Ltd</b> [a](javascript:x) [b](https://example.org/)'
  await admin.act('PATCH', '/branding', { start_text: text, legal: { imprint: text } })
  await onEveryNode('the page is linked', (html) => html.includes('href="/legal/imprint"'))
  for (const [path, place] of [
    ['/', '.start-text'],
    ['/legal/imprint', 'article'],
  ] as const) {
    const html = await page(path)
    expect(html).toContain('<strong>Example</strong>')
    expect(elements(html, `${place} b`)).toEqual([])
    expect(elements(html, `${place} a`).map(({ attributes }) => attributes.href)).toEqual([
      '',
      'https://example.org/',
    ])
  }
  expect((await visit(host, '/legal/privacy')).status).toBe(404)
  await admin.act('PATCH', '/branding', NOTHING)
  await onEveryNode('the page is gone', (html) => !html.includes('/legal/'))
})

test('a logo is decoded and written again, and no other file becomes one', async () => {
  const send = async (content: Uint8Array | string) => {
    const body = new FormData()
    body.set('logo', new Blob([content]), 'logo.png')
    const headers = { ...sessionHeaders(admin), origin: host.url, 'sec-fetch-site': 'same-origin' }
    return await fetch(`${host.url}/api/v1/admin/branding/logo`, { method: 'POST', body, headers })
  }
  expect((await send('<svg xmlns="http://www.w3.org/2000/svg"/>')).status).toBe(400)
  expect((await send('no picture')).status).toBe(400)
  expect((await send(await picture('png', 640, 160))).status).toBe(200)
  await onEveryNode('the logo is shown', (html) => elements(html, '.brand img').length === 1)
  const [logo] = elements(await page(), '.brand img')
  expect(logo?.attributes).toMatchObject({ width: '128', height: '32' })
  const shown = await visit(host, logo?.attributes.src ?? '')
  expect(shown.headers.get('content-type')).toBe('image/webp')
  expect(await sharp(await shown.bytes()).metadata()).toMatchObject({
    format: 'webp',
    width: 320,
    height: 80,
  })
  await admin.act('DELETE', '/branding/logo')
  await onEveryNode('the logo is gone', (html) => elements(html, '.brand img').length === 0)
  expect((await visit(host, logo?.attributes.src ?? '')).status).toBe(404)
})

test('is changed by administrators alone', async () => {
  const { apiKey } = await host.addAccount()
  expect((await api(host, apiKey).get('/api/v1/admin/branding')).status).toBe(401)
})
