import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { HOUR } from '../../../src/domain/clock.ts'
import {
  api,
  bearer,
  detail,
  elements,
  makeFolder,
  textBytes,
  upload,
  visit,
  withHoldfast,
} from '../../support/clients/public.ts'
import { atNode } from '../../support/servers/holdfast.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const file = await upload(host, { key, name: 'Zürich & more.txt', type: 'text/plain' })

async function page(slug: string): Promise<string> {
  const response = await visit(host, `/d/${slug}`)
  expect(response.status).toBe(200)
  return response.text()
}

/** The value that stands beside the label in the page's details. */
function labelled(html: string, label: string): string | undefined {
  const spans = elements(html, '#detailsContent span').map((span) => span.text)
  const at = spans.findIndex((text) => text.replace(/:$/, '') === label)
  return at < 0 ? undefined : spans[at + 1]
}

function meta(html: string, property: string): string | undefined {
  return elements(html, `meta[property="${property}"]`)[0]?.attributes.content
}

describe('the page of a file', () => {
  test('is HTML and depends on who asks', async () => {
    const response = await visit(host, `/d/${file.slug}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toStartWith('text/html')
    expect(response.headers.get('cache-control')).toContain('private')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('opens at the address that the upload answered', async () => {
    expect(file.url).toBe(`${host.url}/d/${file.slug}`)
    expect((await fetch(file.url)).status).toBe(200)
  })

  test('names the file, and a picture that shows nothing of a text, for other sites', async () => {
    const html = await page(file.slug)
    expect(meta(html, 'og:title')).toBe('Zürich & more.txt')
    expect(meta(html, 'og:image')).toBe(`${host.url}/card.jpg`)
  })

  test('lists the details as neighbouring labels and values', async () => {
    const html = await page(file.slug)
    const { created_at } = await detail(host, key, file)
    expect(labelled(html, 'UUID')).toBe(file.uuid)
    expect(labelled(html, 'Type')).toStartWith('text/plain')
    expect(labelled(html, 'Uploaded')).toStartWith(created_at.slice(0, 10))
    expect(labelled(html, 'Size')).toMatch(/\d/)
    expect(labelled(html, 'SHA-256')).toBe(file.sha256)
  })

  test('shows a guest upload in the same way', async () => {
    const guest = await upload(host, { name: 'guest.txt' })
    expect(meta(await page(guest.slug), 'og:title')).toBe('guest.txt')
  })

  test('never turns a name into markup', async () => {
    const name = `<img src=x onerror=alert(1)>"'&amp;.txt`
    const hostile = await upload(host, { key })
    const renamed = await api(host, key, 'PATCH', `/api/v1/file/${hostile.slug}`, { name })
    expect(renamed.status).toBe(200)
    const html = await page(hostile.slug)
    expect(meta(html, 'og:title')).toBe(name)
    expect(elements(html, '[onerror]')).toEqual([])
  })

  test('answers HEAD like GET, without a body', async () => {
    const response = await visit(host, `/d/${file.slug}`, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toStartWith('text/html')
    expect(await response.text()).toBe('')
  })

  test('is 404 for a slug that nobody has, with GET and HEAD', async () => {
    for (const method of ['GET', 'HEAD']) {
      const response = await visit(host, '/d/AAAAAAAAAAAA', { method, headers: { accept: 'text/html' } })
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toStartWith('text/html')
    }
  })

  test.each(['%00', '%FF', "'%20or%201=1", 'a'.repeat(3000), '..%2f..%2fetc'])(
    'is 404 for the impossible slug %p',
    async (slug) => {
      expect((await visit(atNode(host), `/d/${slug}`)).status).toBe(404)
    },
  )

  test('is at home under the slug alone, not under a number or a UUID of somebody else’s guess', async () => {
    const hidden = await makeFolder(host, key, { public: 0 })
    const secret = await upload(host, { key, folder: hidden })
    expect((await visit(host, `/d/${secret.file_id}`)).status).toBe(404)
    expect((await visit(host, `/d/${secret.uuid}`)).status).toBe(404)
  })
})

test('a plain form on the start page keeps all of its files, or nothing', async () => {
  const form = new FormData()
  const files = ['one.txt', 'two.txt'].map((name) => new File([name], name, { type: 'text/plain' }))
  for (const file of files) form.append('file', file)
  const stored = await visit(host, '/', { method: 'POST', body: form })
  expect(stored.status).toBe(303)
  const html = await (await visit(host, stored.headers.get('location') ?? '')).text()
  expect(elements(html, '.file-item').map((item) => item.attributes['data-name'])).toEqual([
    'one.txt',
    'two.txt',
  ])
  const receipt = stored.headers.get('holdfast-receipt') ?? ''
  expect(await (await visit(host, `/api/v1/receipt/${receipt}`)).json()).toMatchObject({
    data: { kind: 'transfer', transfer: { is_whole: true } },
  })

  const transfers = host.database
    .selectFrom('folders')
    .select('id')
    .where('is_transfer', '=', 1)
    .where('deleted_at', 'is', null)
  const before = (await transfers.execute()).length
  const cut = `--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\na\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="b"\r\n\r\nb`
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  expect((await visit(host, '/', { method: 'POST', body: cut, headers })).status).toBe(400)
  expect(await transfers.execute()).toHaveLength(before)
})

test('a plain form on the start page takes a guest’s file and leads on to its page', async () => {
  const form = new FormData()
  form.set('file', new File(['by hand'], 'by hand.txt', { type: 'text/plain' }))
  const response = await visit(host, '/', { method: 'POST', body: form })
  expect(response.status).toBe(303)
  const target = new URL(response.headers.get('location') ?? '', host.url)
  expect(target.origin).toBe(host.url)
  const html = await (await visit(host, target.href)).text()
  expect(meta(html, 'og:title')).toBe('by hand.txt')
})

test('the key of a disabled account opens nothing private', async () => {
  const { apiKey } = await host.addAccount('leaver')
  const folder = await makeFolder(host, apiKey, { public: 0 })
  const secret = await upload(host, { key: apiKey, folder, name: 'secret.txt' })
  expect((await visit(host, `/d/${secret.slug}`, { headers: bearer(apiKey) })).status).toBe(200)
  await host.disableAccount('leaver')
  for (const path of [
    `/d/${secret.slug}`,
    `/d/${secret.slug}?download=1`,
    `/t/${secret.uuid}`,
    `/f/${folder}`,
  ]) {
    const response = await visit(host, path, { headers: bearer(apiKey) })
    expect([403, 404]).toContain(response.status)
    expect(await response.text()).not.toContain('secret.txt')
  }
})

describe('the download link of a file', () => {
  test('redirects to the bytes as an attachment under the same name', async () => {
    const bytes = new TextEncoder().encode('the very same bytes')
    const named = await upload(host, { key, name: 'same name.txt', bytes })
    const redirect = await visit(host, `/d/${named.slug}?download=1`)
    expect(redirect.status).toBe(302)
    expect(redirect.headers.get('cache-control')).toContain('private')
    const content = await visit(host, redirect.headers.get('location') ?? '')
    expect(content.status).toBe(200)
    expect(content.headers.get('content-disposition')).toStartWith('attachment')
    expect(content.headers.get('content-disposition')).toContain('filename="same name.txt"')
    expect(await content.bytes()).toEqual(bytes)
  })

  test('redirects HEAD too', async () => {
    const response = await visit(host, `/d/${file.slug}?download=1`, { method: 'HEAD' })
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBeString()
  })

  test('is 404 for a slug that nobody has', async () => {
    expect((await visit(host, '/d/AAAAAAAAAAAA?download=1')).status).toBe(404)
  })
})

describe('public addresses', () => {
  test('come from the configured public URL, never from the Host header', async () => {
    await withHoldfast({ publicUrl: 'https://files.example' }, async (configured) => {
      const apart = await upload(configured)
      expect(apart.url).toBe(`https://files.example/d/${apart.slug}`)
      const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
      const html = await (await visit(configured, `/d/${apart.slug}`, { headers })).text()
      expect(meta(html, 'og:image')).toBe('https://files.example/card.jpg')
      expect(html).not.toContain('evil.example')
      const redirect = await visit(configured, `/d/${apart.slug}?download=1`, { headers })
      const location = new URL(redirect.headers.get('location') ?? '', 'https://files.example')
      expect(location.origin).toBe('https://files.example')
    })
  })

  test('of the bytes lead to the content origin where one is set', async () => {
    await withHoldfast({ contentUrl: 'https://content.example' }, async (configured) => {
      const apart = await upload(configured)
      const redirect = await visit(configured, `/d/${apart.slug}?download=1`)
      expect(redirect.headers.get('location')).toStartWith('https://content.example/v2/')
    })
  })
})

describe('what the page of a file tells others', () => {
  test('is a film with an address that lasts, which counts as a view where it is played', async () => {
    const film = await upload(host, { key, name: 'crossing.webm', type: 'video/webm' })
    const html = await page(film.slug)
    expect(meta(html, 'og:type')).toBe('video.other')
    expect(meta(html, 'og:video')).toBe(`${film.url}?view=1`)
    expect(meta(html, 'og:video:type')).toBe('video/webm')
    const redirect = await visit(host, `/d/${film.slug}?view=1`)
    expect(redirect.status).toBe(302)
    const content = await visit(host, redirect.headers.get('location') ?? '')
    expect(content.headers.get('content-disposition')).toStartWith('inline')
    await content.bytes()
    await host.settle()
    expect(await detail(host, key, film)).toMatchObject({ views: 2, downloads: 0 })
  })

  test('leads a text or source code on to be shown as plain text, whatever it is, and says where', async () => {
    const source = await upload(host, { key, name: 'page.html', bytes: textBytes('<script>x()</script>') })
    const redirect = await visit(host, `/d/${source.slug}?raw=1`)
    expect(redirect.status).toBe(302)
    const address = redirect.headers.get('location') ?? ''
    const content = await visit(host, address)
    expect(content.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(content.headers.get('content-disposition')).toStartWith('inline')
    expect(content.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(content.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await content.text()).toBe('<script>x()</script>')
    const download = await visit(host, `${address}&download=true`)
    expect(download.headers.get('content-disposition')).toStartWith('attachment')
    expect(download.headers.get('content-type')).toBe('text/html')
    await download.bytes()
    expect(await page(source.slug)).toContain(`/d/${source.slug}?raw=1`)
  })

  test('tells the charset of a text that was found, for the text itself and as plain text, or none', async () => {
    const russian = Buffer.from(
      'fcd4cf20d2d5d3d3cbc9ca20d4c5cbd3d420d720d3d4c1d2cfca20cbcfc4c9d2cfd7cbc5',
      'hex',
    )
    const texts: [string, Uint8Array<ArrayBuffer>, string][] = [
      ['utf-8.txt', textBytes('Grüße'), 'text/plain; charset=utf-8'],
      ['old.txt', new Uint8Array(russian), 'text/plain; charset=koi8-r'],
      ['wrong.log', new Uint8Array(Buffer.from('c3bcc3a4ffc3b6', 'hex')), 'text/plain; charset=utf-8'],
      ['unsure.txt', new Uint8Array([0xa3, 0xe0, 0xe4]), 'text/plain'],
    ]
    for (const [name, bytes, type] of texts) {
      const { slug } = await upload(host, { key, name, bytes })
      const told = /<script[^>]* id="page-data"[^>]*>(.*?)<\/script>/.exec(await page(slug))?.[1] ?? ''
      const { preview } = JSON.parse(told) as { preview: { url: string } }
      const raw = (await visit(host, `/d/${slug}?raw=1`)).headers.get('location') ?? ''
      const view = (await visit(host, `/d/${slug}?view=1`)).headers.get('location') ?? ''
      for (const address of [preview.url, raw, view]) {
        const answer = await visit(host, address)
        expect([name, answer.headers.get('content-type')]).toEqual([name, type])
        await answer.bytes()
      }
    }
  })

  test('is a title, a description and a picture in their words and in Twitter’s', async () => {
    const html = await page(file.slug)
    const named = (name: string) => elements(html, `meta[name="twitter:${name}"]`)[0]?.attributes.content
    expect(named('card')).toBe('summary_large_image')
    expect(named('title')).toBe('Zürich & more.txt')
    expect(named('description')).toBe(meta(html, 'og:description'))
    expect(named('image')).toBe(`${host.url}/card.jpg`)
  })
})

describe('the address that a page gives its scripts', () => {
  const data = z.object({
    size: z.number(),
    sha256: z.string(),
    preview: z.object({ kind: z.string(), url: z.string() }).nullable(),
  })
  const told = async (slug: string) =>
    data.parse(JSON.parse(elements(await page(slug), '#page-data')[0]?.text ?? ''))

  test('answers ranges to scripts of any origin, who may read which part it is', async () => {
    const { preview, ...facts } = await told(file.slug)
    expect(facts).toEqual({ size: file.size, sha256: file.sha256 })
    expect(preview?.kind).toBe('text')
    const headers = { range: 'bytes=10-19', origin: 'https://elsewhere.example' }
    const answer = await visit(host, preview?.url ?? '', { headers })
    expect(answer.status).toBe(206)
    expect(answer.headers.get('content-range')).toBe(`bytes 10-19/${file.size}`)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    expect(answer.headers.get('access-control-expose-headers')).toContain('Content-Range')
    const asked = await visit(host, preview?.url ?? '', { method: 'OPTIONS', headers })
    expect(asked.status).toBe(204)
    expect(asked.headers.get('access-control-allow-headers')).toContain('Range')
  })

  test('is counted with the page, not besides it', async () => {
    const read = await upload(host, { key, name: 'notes.txt' })
    const { preview } = await told(read.slug)
    for (const range of ['bytes=0-9', 'bytes=10-19', 'bytes=0-']) {
      await (await visit(host, preview?.url ?? '', { headers: { range } })).bytes()
    }
    await host.settle()
    expect(await detail(host, key, read)).toMatchObject({ views: 1, downloads: 0 })
  })

  test('outlives a long film, and ends', async () => {
    await withHoldfast({}, async (own) => {
      const film = await upload(own, { name: 'film.webm' })
      const html = await (await visit(own, `/d/${film.slug}`)).text()
      const address = elements(html, 'video')[0]?.attributes.src ?? ''
      own.clock.advance(11 * HOUR)
      expect((await visit(own, address)).status).toBe(200)
      own.clock.advance(2 * HOUR)
      expect((await visit(own, address)).status).toBe(403)
    })
  })

  test('is told to nobody who may not see the file', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const locked = await upload(host, { key, folder, name: 'secret.txt' })
    const html = await page(locked.slug)
    for (const secret of ['secret.txt', locked.uuid, locked.sha256, '/v2/'])
      expect(html).not.toContain(secret)
  })
})
