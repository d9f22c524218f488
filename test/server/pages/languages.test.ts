import { describe, expect, test } from 'bun:test'
import { readerOf } from '../../../src/server/requests/browser.ts'
import { elements, upload, visit } from '../../support/clients/public.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const { host } = await ownedHost()
const file = await upload(host, { bytes: new Uint8Array(1536) })

const ADDRESSES = ['/', `/d/${file.slug}`, '/d/nothinghere12', '/nowhere']

describe('a page', () => {
  test.each(ADDRESSES)('speaks the language that the browser asks for: %s', async (address) => {
    for (const [asked, spoken] of [
      ['de-AT,de;q=0.9,en;q=0.5', 'de'],
      ['fr,en-US;q=0.7,de;q=0.3', 'en'],
    ] as const) {
      const headers = { accept: 'text/html', 'accept-language': asked }
      const response = await visit(host, address, { headers })
      expect(response.headers.get('vary')).toContain('Accept-Language')
      expect(elements(await response.text(), 'html')[0]?.attributes.lang).toBe(spoken)
    }
  })

  test('writes numbers and dates as people there do, and keeps the labels that programs read', async () => {
    const headers = { 'accept-language': 'de' }
    const html = await (await visit(host, `/d/${file.slug}`, { headers })).text()
    const texts = elements(html, '#detailsContent span').map(({ text }) => text)
    expect(texts).toContain('1.5 KB')
    expect(elements(html, '.facts')[0]?.text).toContain('1,5 KB')
    expect(texts).toContain('SHA-256')
    expect(texts).toContain('Uploaded')
  })
})

describe('the language of a reader', () => {
  test.each([
    ['', 'en', 'en-GB'],
    ['de', 'de', 'de-DE'],
    ['de-CH', 'de', 'de-CH'],
    ['DE-ch', 'de', 'de-CH'],
    ['de-Latn-AT', 'de', 'de-AT'],
    ['en-US,en;q=0.9', 'en', 'en-US'],
    ['fr-FR, de;q=0.8, en;q=0.9', 'en', 'en-GB'],
    ['de;q=0, en;q=0.1', 'en', 'en-GB'],
    ['nds, *;q=0.5', 'en', 'en-GB'],
    ['de;q=x', 'en', 'en-GB'],
    ['de-DE-u-nu-arab', 'de', 'de-DE'],
    ['constructor', 'en', 'en-GB'],
    [`${'fr,'.repeat(5000)}de`, 'en', 'en-GB'],
  ] as const)('%p is %s, with the locale %s', (header, language, locale) => {
    const request = new Request('http://localhost/', { headers: { 'accept-language': header } })
    expect(readerOf(request)).toEqual({ language, locale })
  })
})
