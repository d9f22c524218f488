import { describe, expect, test } from 'bun:test'
import { changeLink, linkedFile, makeLink } from '../../support/clients/links.ts'
import { elements, type Headers, type Uploaded, upload, visit } from '../../support/clients/public.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const PAGE = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-language': 'en' }

let addresses = 0

const host = await hostOfFile({ trustedProxies: ['127.0.0.1', '::1'] })

/** Sends the form as a browser does, from an address that has reported nothing yet if none is named. */
function send(file: Uploaded, fields: Record<string, string>, headers: Headers = {}): Promise<Response> {
  addresses += 1
  return visit(host, `/d/${file.slug}/report`, {
    method: 'POST',
    headers: {
      ...PAGE,
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': `198.51.100.${addresses}`,
      ...headers,
    },
    body: new URLSearchParams(fields).toString(),
  })
}

/** Reason and text of what is kept about the file. */
async function kept(file: Uploaded) {
  const rows = await host.database.selectFrom('reports').select(['slug', 'reason', 'text']).execute()
  return rows.filter(({ slug }) => slug === file.slug).map(({ reason, text }) => ({ reason, text }))
}

const headings = (html: string) => elements(html, 'h1').map(({ text }) => text)
const alerts = (html: string) => elements(html, '[role=alert]').map(({ text }) => text)

describe('the form that reports a file', () => {
  test.each([
    ['en', 'Report this file', 'It is spam'],
    ['de-AT,de;q=0.9,en;q=0.5', 'Diese Datei melden', 'Sie ist Spam'],
  ])('speaks the language of the browser: %s', async (language, title, spam) => {
    const file = await upload(host, { name: 'figures.pdf' })
    const response = await visit(host, `/d/${file.slug}/report`, {
      headers: { ...PAGE, 'accept-language': language },
    })
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(headings(html)).toEqual([title])
    expect(elements(html, 'label').map(({ text }) => text)).toContain(spam)
    expect(elements(html, 'bdi').map(({ text }) => text)).toContain('figures.pdf')
  })

  test('is there for a file of a made link, and leads back to it alone', async () => {
    const { apiKey } = await host.addAccount()
    const file = await upload(host, { key: apiKey, name: 'figures.pdf' })
    const link = await makeLink(host, apiKey, { files: [file.uuid], password: 'kelp' })
    const path = await linkedFile(host, link, file)
    expect((await visit(host, `${path}/report`)).status).toBe(403)
    await changeLink(host, apiKey, link, { password: null })
    const html = await (await visit(host, `/l/${link}`, { headers: PAGE })).text()
    expect(elements(html, `a[href="${path}/report"]`)).toHaveLength(1)
    const form = await (await visit(host, `${path}/report`, { headers: PAGE })).text()
    expect(elements(form, `form[action="${path}/report"]`)).toHaveLength(1)
    const headers = { ...PAGE, 'content-type': 'application/x-www-form-urlencoded' }
    const send = (body: string) => visit(host, `${path}/report`, { method: 'POST', headers, body })
    expect((await send('')).status).toBe(400)
    const sent = await send('reason=spam')
    expect([sent.status, await kept(file)]).toEqual([200, [{ reason: 'spam', text: null }]])
    expect(form + (await sent.text())).not.toContain(file.slug)
  })

  test('is a link away from the page of the file', async () => {
    const file = await upload(host)
    const html = await (await visit(host, `/d/${file.slug}`, { headers: PAGE })).text()
    const link = elements(html, 'a').find(({ text }) => text === 'Report this file')
    expect(link?.attributes.href).toBe(`/d/${file.slug}/report`)
  })

  test('keeps what it is sent and says so', async () => {
    const file = await upload(host)
    const response = await send(file, { reason: 'privacy', text: 'That is me.\r\nTake it away.' })
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(headings(html)).toEqual(['Thank you'])
    expect(elements(html, 'main a').map(({ attributes }) => attributes.href)).toEqual([`/d/${file.slug}`])
    expect(await kept(file)).toEqual([{ reason: 'privacy', text: 'That is me.\nTake it away.' }])
  })

  test.each([
    ['no reason', {}],
    ['a reason that is not in the list', { reason: 'ugly' }],
  ])('comes back with the text when it has %s', async (_what, fields) => {
    const file = await upload(host)
    const response = await send(file, { ...fields, text: 'written <b>already</b>' })
    const html = await response.text()
    expect(response.status).toBe(400)
    expect(alerts(html)).toEqual(['Choose what is wrong with it.'])
    expect(elements(html, 'textarea')[0]?.text).toBe('written <b>already</b>')
    expect(await kept(file)).toEqual([])
  })

  test('comes back with the reason when the text is too long', async () => {
    const file = await upload(host)
    const response = await send(file, { reason: 'malware', text: 'x'.repeat(2001) })
    const html = await response.text()
    expect(response.status).toBe(400)
    expect(alerts(html)).toEqual(['Shorten this to 2,000 characters.'])
    const checked = elements(html, 'input[type=radio]').filter(({ attributes }) => 'checked' in attributes)
    expect(checked.map(({ attributes }) => attributes.value)).toEqual(['malware'])
    expect(await kept(file)).toEqual([])
  })

  test('comes back when the address has reported too often', async () => {
    const file = await upload(host)
    const headers = { 'x-forwarded-for': '203.0.113.1' }
    for (let index = 0; index < 10; index += 1) await send(file, { reason: 'spam' }, headers)
    const response = await send(file, { reason: 'spam', text: 'once more' }, headers)
    const html = await response.text()
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(alerts(html)).toEqual([expect.stringMatching(/Try again in \d+ minutes/)])
    expect(elements(html, 'textarea')[0]?.text).toBe('once more')
  })

  test('holds names and texts as text, whatever they are made of', async () => {
    const hostile = '"><img src=x onerror=alert(1)></textarea><script>alert(1)</script>'
    const file = await upload(host, { name: '<img src=x onerror=alert(1)>' })
    const html = await (await send(file, { text: hostile })).text()
    expect(elements(html, 'textarea')[0]?.text).toBe(hostile)
    expect(elements(html, 'main bdi')[0]?.text).toBe('<img src=x onerror=alert(1)>')
    expect(elements(html, 'img[src=x], script:not([src]):not([type])')).toEqual([])
  })
})

describe('a form sent by a browser', () => {
  test.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'cross-site', origin: 'null' }],
    [{ origin: 'https://elsewhere.example' }],
    [{ origin: 'null' }],
  ])('from a page that is not ours is refused: %p', async (headers) => {
    const file = await upload(host)
    expect((await send(file, { reason: 'spam' }, headers)).status).toBe(400)
    expect(await kept(file)).toEqual([])
  })

  test('from our page is taken, with and without Sec-Fetch-Site', async () => {
    const file = await upload(host)
    const { origin } = new URL(host.url)
    const browsers: readonly Headers[] = [{ 'sec-fetch-site': 'same-origin', origin }, { origin }]
    for (const headers of browsers) {
      expect((await send(file, { reason: 'spam' }, headers)).status).toBe(200)
    }
    expect(await kept(file)).toHaveLength(2)
  })
})
