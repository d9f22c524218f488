/** What the page of a link says of who sent what, and until when. */
import { expect, test } from 'bun:test'
import { DAY, timestamp } from '../../../../src/domain/clock.ts'
import { type Api, api } from '../../../support/clients/api.ts'
import { linkedFile, makeLink } from '../../../support/clients/links.ts'
import { elements, GENEROUS, makeFolder, visit } from '../../../support/clients/public.ts'
import { signedIn } from '../../../support/clients/site-visitor.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const host = await hostOfFile(GENEROUS)

const page = async (slug: string, headers: Record<string, string> = {}) =>
  (await visit(host, `/l/${slug}`, { headers })).text()
const textOf = (html: string, selector: string) => elements(html, selector)[0]?.text ?? null

async function account(displayName: string | null): Promise<{ readonly by: Api; readonly key: string }> {
  const { username, apiKey } = await host.addAccount()
  const owner = await signedIn(host, username)
  await owner.send('PATCH', '/api/v1/account', { display_name: displayName })
  return { by: api(host, apiKey), key: apiKey }
}

test('by an account with a display name says whose files it opens, how many, and until when', async () => {
  const { by, key } = await account('Ann <Lee>')
  const photos = await Promise.all(['a.jpg', 'b.jpg'].map((name) => by.put('x'.repeat(600), { name })))
  const film = await by.put('film', { name: 'c.mp4' })
  const files = [...photos, film].map(({ uuid }) => uuid)
  const ends_at = timestamp(host.clock.now() + 3 * DAY)
  const slug = await makeLink(host, key, { files, ends_at, message: 'From the lake' })
  const html = await page(slug)
  expect(textOf(html, 'title')).toBe('2 photos and 1 video · Holdfast')
  expect(textOf(html, 'h1')).toBe('Ann <Lee> sent you 2 photos and 1 video (1.2 KB).')
  expect(textOf(html, '.link-until')).toStartWith('They are here until ')
  expect(textOf(html, 'blockquote')).toBe('From the lake')
  for (const uuid of files) expect(html).not.toContain(uuid)
  const inner = await (await visit(host, await linkedFile(host, slug, film))).text()
  expect(textOf(inner, 'h1')).toBe('c.mp4')
  expect(textOf(inner, 'a.up')).toBe('All files')
  expect(inner).not.toContain('sent you')
  expect(textOf(inner, '.link-until')).toStartWith('This link ends on ')
})

test('without a display name tells none, and a name of the link is its title', async () => {
  const { by, key } = await account(null)
  const folder = await makeFolder(host, key, { name: 'Inner' })
  const into = { 'x-folder-id': folder }
  for (const name of ['a.zip', 'b.txt']) await by.put('x', { name, headers: into })
  const file = await by.put('y', { name: 'c.txt' })
  const both = { files: [file.uuid], folders: [folder] }
  const html = await page(await makeLink(host, key, { ...both, name: 'For Saturday' }))
  expect(textOf(html, 'h1')).toBe('For Saturday')
  expect(textOf(html, '.link-lead')).toBe('You were sent 3 files (3 B).')
  expect(html).not.toContain('They are here until')
  const german = await page(await makeLink(host, key, both), { 'accept-language': 'de' })
  expect(textOf(german, 'h1')).toBe('Du hast 3 Dateien (3 B) bekommen.')
})

test('that opens once says so first, and then that it is over, and names no other end of the file', async () => {
  const { by, key } = await account('Ann')
  const file = await by.put('x', { name: 'a.txt' })
  const slug = await makeLink(host, key, { files: [file.uuid], max_downloads: 1 })
  const first = await visit(host, `/l/${slug}`)
  const html = await first.text()
  expect(textOf(html, '.link-head')).toStartWith('This can be downloaded once')
  expect(html).not.toContain('will be deleted on')
  const [cookie = ''] = first.headers.getSetCookie().map((each) => each.split(';')[0] ?? '')
  const bytes = await visit(host, `/l/${slug}?download=1`, { headers: { cookie }, redirect: 'follow' })
  expect(await bytes.text()).toBe('x')
  expect(textOf(await page(slug, { cookie }), '.link-head')).toStartWith(
    'You have started the only download.',
  )
  const others = await visit(host, `/l/${slug}`, { headers: { accept: 'text/html' } })
  const over = await others.text()
  expect([others.status, textOf(over, 'h1')]).toEqual([404, 'This link has been used up'])
})
