/** What a page says to somebody who is signed in, and to somebody who owns what it shows. */
import { describe, expect, test } from 'bun:test'
import { changeFolder, elements, makeFolder, upload } from '../../support/clients/public.ts'
import { signedIn, visitor } from '../../support/clients/site-visitor.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const owner = await signedIn(host, 'owner')
const stranger = visitor(() => host.url)
const PAGE = { accept: 'text/html' }

const folder = await makeFolder(host, key, { name: 'Letters' })
const inner = await makeFolder(host, key, { name: 'Inner', parent: folder })
const file = await upload(host, { key, folder: inner, name: 'a.txt' })
const locked = await makeFolder(host, key, { name: 'Locked', password: 'sesame' })
await host.addAccount('other')
const other = await signedIn(host, 'other')

const heads = (html: string) => elements(html, 'header .who').map(({ text }) => text)

describe('the head of every page', () => {
  test.each([
    '/',
    '/docs',
    '/docs/api',
    '/sign-up',
    '/sign-in/forgotten',
    '/sign-up/ended',
    '/verify-mail/ended',
    '/nothing/here',
    '/assets/none.css',
    '/d/Aaaaaaaaaaaa',
    '/f/aaaaaaaaaaaaaaaa',
    `/d/${file.slug}`,
    `/d/${file.slug}/report`,
    `/d/${file.slug}?download=2`,
    `/f/${folder}`,
    `/f/${folder}?page=9`,
    `/f/${locked}`,
    `/f/${locked}?download=zip`,
    `/v2/${file.uuid}.txt?token=wrong`,
    '/files/aaaaaaaaaaaaaaaa',
    '/settings',
    '/admin',
  ])('names whoever is signed in: %s', async (path) => {
    const { text } = await other.get(path, PAGE)
    expect(heads(text)[0]).toBe('other')
    const unknown = await stranger.get(path, PAGE)
    if (unknown.status !== 303 && unknown.status !== 302) expect(heads(unknown.text)).toEqual(['Sign in'])
  })

  test('names whoever is signed in on pages that answer a form', async () => {
    const wrong = await other.submit(`/f/${locked}`, { password: 'wrong' })
    const reported = await other.submit(`/d/${file.slug}/report`, { reason: 'spam', text: '' })
    for (const { text } of [wrong, reported]) expect(heads(text)[0]).toBe('other')
  })
})

describe('a link that does not open for everybody', () => {
  const notes = (html: string) => elements(html, '.barrier').map(({ text }) => text)
  const addresses = [`/d/${file.slug}`, `/f/${inner}`]

  test('is told of to its owner alone, with the folder that keeps others out', async () => {
    for (const address of addresses) {
      await changeFolder(host, key, folder, { public: 1, password: null })
      expect(notes((await owner.get(address, PAGE)).text)).toEqual([])
      await changeFolder(host, key, folder, { password: 'sesame' })
      const [asked, ...others] = notes((await owner.get(address, PAGE)).text)
      expect([asked, others]).toEqual([
        expect.stringContaining('asked for the password of the folder “Letters”'),
        [],
      ])
      await changeFolder(host, key, folder, { public: 0 })
      const { text } = await owner.get(address, PAGE)
      expect(notes(text)[0]).toStartWith('Only you can open this link')
      expect(elements(text, '.barrier a')[0]?.attributes.href).toBe(`/files/${folder}`)
      for (const person of [stranger, other]) expect((await person.get(address, PAGE)).status).toBe(404)
    }
  })

  test('has no code to scan while it is private, and nobody reports their own file', async () => {
    await changeFolder(host, key, folder, { public: 0 })
    const html = (await owner.get(`/d/${file.slug}`, PAGE)).text
    expect(elements(html, '.qr, a[href$="/report"]')).toEqual([])
    await changeFolder(host, key, folder, { public: 1, password: null })
    expect(elements((await owner.get(`/d/${file.slug}`, PAGE)).text, 'a[href$="/report"]')).toEqual([])
    expect(elements((await other.get(`/d/${file.slug}`, PAGE)).text, '.qr, a[href$="/report"]')).toHaveLength(
      2,
    )
  })
})
