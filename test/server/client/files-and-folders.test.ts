import { expect, test } from 'bun:test'
import { lines, loggedIn } from '../../support/cli/client.ts'
import { GENEROUS } from '../../support/clients/public.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const host = await hostOfFile(GENEROUS)

test('mkdir makes folders by path and prints their links', async () => {
  const { client } = await loggedIn(host)
  using _ = client
  const made = await client.run('mkdir', '-p', '/photos/2026/may')
  expect(made).toMatchObject({ code: 0, errors: '' })
  expect(made.output).toMatch(new RegExp(`^${host.url}/f/[a-z][a-z0-9]{15}\n$`))
  expect(await client.run('mkdir', '-p', '/photos/2026/may')).toEqual(made)
  // The server keeps names without what turns the direction of a text.
  const turned = await client.run('mkdir', '-p', '/photos/2026/m\u202eay')
  expect(turned).toEqual(made)
  const again = await client.run('mkdir', '/photos')
  expect(again.code).toBe(1)
  expect(again.errors).toContain('already exists')
  expect((await client.run('mkdir', '/nowhere/new')).code).toBe(1)
})

test('ls shows folders first, then files by name, in columns or as JSON lines', async () => {
  const { client, account } = await loggedIn(host)
  using _ = client
  await account.folder('zoo')
  const b = await account.put('bb', { name: 'b.txt' })
  const a = await account.put('a', { name: '漢字.txt' })
  const { code, output } = await client.run('ls')
  expect(code).toBe(0)
  const [head, ...rows] = lines(output)
  expect(head).toMatch(/^NAME +SIZE +SINCE +LINK$/)
  expect(rows.map((row) => row.split(/ {2,}/)[0])).toEqual(['zoo/', 'b.txt', '漢字.txt'])
  const columnOf = (row: string, text: string) => Bun.stringWidth(row.slice(0, row.indexOf(text)))
  expect(columnOf(rows[1] ?? '', b.url)).toBe(columnOf(rows[2] ?? '', a.url))
  const items = lines((await client.run('ls', '/', '--json')).output).map((line) => JSON.parse(line))
  expect(items).toMatchObject([
    { kind: 'folder', name: 'zoo' },
    { kind: 'file', name: 'b.txt', url: b.url },
    { kind: 'file', name: '漢字.txt', url: a.url },
  ])
})

test('mv moves into folders, renames, and does both', async () => {
  const { client, account } = await loggedIn(host)
  using _ = client
  const photos = await account.folder('photos')
  const file = await account.put('x', { name: 'x.txt' })
  await account.folder('loose')
  expect(await client.run('mv', file.slug, '/loose', '/photos')).toMatchObject({ code: 0, errors: '' })
  expect((await account.get(`/api/v1/file/${file.slug}`)).body).toMatchObject({ data: { folder_id: photos } })
  await client.run('mv', '/photos/loose', '/tidy')
  await client.run('mv', '/photos/x.txt', '/tidy/y.txt')
  const listed = await client.run('ls', '/tidy', '--json')
  expect(JSON.parse(listed.output)).toMatchObject({ kind: 'file', name: 'y.txt' })
  const missing = await client.run('mv', '/tidy/y.txt', '/tidy', '/nowhere')
  expect(missing.code).toBe(1)
  expect((await client.run('mv', '/tidy')).code).toBe(2)
})

test('rm deletes files and whole folders, and not without --yes where nobody can be asked', async () => {
  const { client, account } = await loggedIn(host)
  using _ = client
  const folder = await account.folder('old')
  await account.put('x', { name: 'x.txt', folder })
  const file = await account.put('y', { name: 'y.txt' })
  const unasked = await client.run('rm', '/old')
  expect(unasked.code).toBe(2)
  expect(unasked.errors).toContain('--yes')
  expect((await account.get(`/api/v1/folder/${folder}/files`)).status).toBe(200)
  expect(await client.run('rm', '--yes', '/old', file.url)).toEqual({ code: 0, output: '', errors: '' })
  expect((await account.get(`/api/v1/folder/${folder}/files`)).status).toBe(404)
  expect((await account.get(`/api/v1/file/${file.slug}`)).status).toBe(404)
})

test('nothing is deleted when one of the names leads nowhere', async () => {
  const { client, account } = await loggedIn(host)
  using _ = client
  const file = await account.put('y', { name: 'y.txt' })
  const { code, errors } = await client.run('rm', '--yes', file.slug, '/y.text')
  expect(code).toBe(1)
  expect(errors).toContain('/y.text')
  expect((await account.get(`/api/v1/file/${file.slug}`)).status).toBe(200)
})

test('of several files with one name none is taken by its path', async () => {
  const { client, account } = await loggedIn(host)
  using _ = client
  const files = [await account.put('1', { name: 'same.txt' }), await account.put('2', { name: 'same.txt' })]
  const { code, errors } = await client.run('rm', '--yes', '/same.txt')
  expect(code).toBe(1)
  for (const { url } of files) expect(errors).toContain(url)
})

test('info shows a file by any of its names, and a folder', async () => {
  const { client, account } = await loggedIn(host)
  using _ = client
  const folder = await account.folder('one', { public: 0 })
  const file = await account.put('content', { name: 'a.txt', folder })
  for (const name of [file.slug, file.uuid, String(file.file_id), file.url, '/one/a.txt']) {
    const { output } = await client.run('info', name, '--json')
    expect(JSON.parse(output)).toMatchObject({ kind: 'file', slug: file.slug, sha256: file.sha256 })
  }
  const shown = await client.run('info', '/one')
  expect(shown.output).toContain(folder)
  expect(shown.output).toContain('to you alone')
  expect((await client.run('info', '/one/b.txt')).code).toBe(1)
})

test('search finds parts of names on every page', async () => {
  const { client, account } = await loggedIn(host)
  using _ = client
  for (let number = 0; number < 101; number++)
    await account.put(`${number}`, { name: `Report ${number}.txt` })
  await account.put('x', { name: 'else.txt' })
  const found = lines((await client.run('search', 'REPORT', '--json')).output)
  expect(found).toHaveLength(101)
  expect(lines((await client.run('search', 'nothing like that')).output)).toEqual([])
})

test('share makes a link with terms, and links lists it and takes it back', async () => {
  const { client, account } = await loggedIn(host)
  using _ = client
  await account.folder('photos')
  const file = await account.put('x', { name: 'x.txt' })
  const made = await client.run(
    'share',
    '/photos',
    file.slug,
    '--until',
    '7d',
    '--downloads',
    '3',
    '--name',
    'For Ben',
  )
  expect(made).toMatchObject({ code: 0, errors: '' })
  expect(made.output).toMatch(new RegExp(`^${host.url}/l/[a-z0-9]{16}\n$`))
  const link = made.output.trim()
  const listed = await client.run('links', '--json')
  expect(JSON.parse(listed.output)).toMatchObject({
    url: link,
    title: 'For Ben',
    max_downloads: 3,
    downloads: 0,
    state: 'live',
    has_password: false,
  })
  expect(lines((await client.run('links')).output)[1]).toMatch(/^For Ben {2}live +0 of 3 +\S+ \S+ +http/)
  expect((await fetch(link)).status).toBe(200)
  expect(await client.run('links', '--revoke', link)).toEqual({ code: 0, output: '', errors: '' })
  expect((await fetch(link)).status).toBe(404)
  expect((await client.run('links', '--revoke', 'nothing-there')).code).toBe(1)
  const terms = ['--max-files', '2', '--types', '.txt,image/*', '--require', 'sender', '--name', 'Hand in']
  const asking = await client.run('request', '/photos', '--until', '7d', ...terms)
  expect(asking).toMatchObject({ code: 0, errors: '' })
  const sent = await fetch(`${asking.output.trim()}/a.txt?sender=Ben`, { method: 'PUT', body: 'x' })
  expect(sent.status).toBe(200)
  expect((await client.run('links')).output).toMatch(/Hand in {2}live +1 of 2 in +/)
  const log = await client.run('links', '--log', asking.output.trim())
  expect(lines(log.output)[1]).toMatch(/^\S+ \S+ {2}arrived {2}1 +a\.txt$/)
  expect((await client.run('request', '/')).code).toBe(1)
  const none = await client.run('share', 'letter.txt', '--downloads', '0')
  expect(none).toMatchObject({ code: 2, errors: expect.stringContaining('a whole number from 1 up') })
  const root = await client.run('share', '/')
  expect([root.code, root.errors]).toEqual([1, expect.stringContaining('top level')])
})

test('webhooks adds an address, changes it, lists it with what was sent there, and removes it', async () => {
  const { client } = await loggedIn(host)
  using _ = client
  const added = await client.run('webhooks', '--add', 'http://localhost:65535/', '--kinds', 'link.arrived')
  expect(added.output).toMatch(/^number {2}\d+\nsecret {2}whsec_\S{44}\n$/)
  const number = /\d+/.exec(added.output)?.[0] ?? ''
  expect(lines((await client.run('webhooks')).output)[1]).toMatch(
    new RegExp(`^${number} +works +link.arrived +http://localhost:65535/$`),
  )
  expect(await client.run('webhooks', '--test', number)).toEqual({ code: 0, output: '', errors: '' })
  expect(lines((await client.run('webhooks', '--log', number)).output)[1]).toMatch(/ webhook\.test +waiting/)
  const elsewhere = ['--change', number, '--url', 'http://localhost:65535/other', '--kinds', 'all']
  expect(await client.run('webhooks', ...elsewhere)).toEqual({ code: 0, output: '', errors: '' })
  expect((await client.run('webhooks')).output).toMatch(/ all +http:\/\/localhost:65535\/other\n$/)
  expect((await client.run('webhooks', '--remove', number)).code).toBe(0)
  expect((await client.run('webhooks')).output).toBe('')
  for (const words of [
    ['--test', 'x'],
    ['--remove', number, '--test', number],
    ['--replay', '1'],
    ['--change', number],
    ['--url', 'http://localhost:65535/'],
  ]) {
    expect((await client.run('webhooks', ...words)).code).toBe(2)
  }
})
