/** What guests have uploaded by the command line, and their receipts. */
// Only in test:all: many starts of the program; test/cluster/uploads/receipts.test.ts has the same by its interface.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Client, lines, newClient } from '../../support/cli/client.ts'
import { makeLink } from '../../support/clients/links.ts'
import { GENEROUS, makeFolder, randomBytes, visit } from '../../support/clients/public.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

let host: TestHoldfast
let client: Client
beforeAll(async () => {
  host = await startHoldfast(GENEROUS)
  client = newClient()
})
afterAll(async () => {
  client[Symbol.dispose]()
  await host.stop()
})

/** Uploads as a guest; the link, and the address of the receipt's page. */
async function put(name: string, content: string | Uint8Array<ArrayBuffer>) {
  writeFileSync(join(client.folder, name), content)
  const { code, output, errors } = await client.run('upload', '--guest', '--server', host.url, name)
  expect(code).toBe(0)
  const [page = ''] = /http\S+\/r\/\S+/.exec(errors) ?? []
  return { link: output.trim(), page, slug: output.trim().split('/').at(-1) ?? '' }
}

const status = async (slug: string) => (await visit(host, `/d/${slug}`)).status

test('an upload tells of its receipt beside the links, and keeps it for its owner alone', async () => {
  const small = await put('small.txt', 'small')
  const large = await put('large.bin', randomBytes(6_000_000))
  expect((await fetch(small.page)).status).toBe(200)
  expect(await (await fetch(large.page)).text()).toContain('large.bin')
  const kept = join(client.home, 'state/holdfast/receipts')
  expect(readdirSync(kept)).toHaveLength(2)
  for (const name of readdirSync(kept)) expect(statSync(join(kept, name)).mode & 0o777).toBe(0o600)
  const { output } = await client.run('receipt')
  expect(lines(output).map((line) => line.split(/ {2,}/).at(-1))).toEqual(['RECEIPT', large.page, small.page])
  const { output: listed } = await client.run('receipt', '--json')
  expect(lines(listed).map((line) => JSON.parse(line))).toMatchObject([
    { name: 'large.bin', size: 6_000_000, url: large.link, receipt_url: large.page },
    { name: 'small.txt', url: small.link },
  ])
})

test('standard input has one too, and --json says it', async () => {
  const stdin = new TextEncoder().encode('typed')
  const words = ['put', '-', '--guest', '--server', host.url, '--name', 'typed.txt', '--json']
  const { output } = await client.runWith({ stdin }, ...words)
  const { receipt, url } = JSON.parse(output)
  const shown = await client.run('receipt', receipt, '--json')
  expect(JSON.parse(shown.output)).toMatchObject({ name: 'typed.txt', url, status: 'completed', size: 5 })
})

test('is shown, renamed and kept by receipt, address and link', async () => {
  const { page, link } = await put('first.txt', 'content')
  const { output } = await client.run('receipt', page)
  expect(output).toContain(link)
  const renamed = await client.run('receipt', link, '--name', 'second.txt', '--keep', '--json')
  expect(JSON.parse(renamed.output)).toMatchObject({ name: 'second.txt', receipt_url: page })
  expect((await client.run('receipt', page.split('/').at(-1) ?? '')).output).toContain('second.txt')
})

const made = z.object({ receipt: z.string(), data: z.object({ slug: z.string() }) })

test('of a link it shows, changes, lists what happened and revokes', async () => {
  const { page } = await put('linked.txt', 'content')
  const answer = await fetch(`${host.url}/api/v1/receipts/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ receipts: [page.split('/').at(-1)] }),
  })
  const { receipt, data } = made.parse(await answer.json())
  const words = ['receipt', receipt, '--server', host.url]
  expect((await client.run(...words)).output).toContain(`/l/${data.slug}`)
  const terms = ['--downloads', '3', '--until', '7d', '--password', 'kelp', '--message', 'Hello', '--json']
  expect(JSON.parse((await client.run(...words, ...terms)).output)).toMatchObject({
    kind: 'link',
    max_downloads: 3,
    has_password: true,
  })
  const open = ['--downloads', 'any', '--until', 'never', '--password', '', '--json']
  expect(JSON.parse((await client.run(...words, ...open)).output)).toMatchObject({
    max_downloads: null,
    ends_at: null,
    has_password: false,
  })
  expect(await client.run(...words, '--log')).toEqual({ code: 0, output: '', errors: '' })
  expect((await client.run(...words, '--delete')).code).toBe(0)
  expect((await visit(host, `/l/${data.slug}`)).status).toBe(404)
})

test('of what was sent by a link that asks for files it shows that, and withdraws it', async () => {
  const { apiKey } = await host.addAccount()
  const folder = await makeFolder(host, apiKey)
  const link = await makeLink(host, apiKey, { folders: [folder], uploads: {} })
  const sent = await fetch(`${host.url}/l/${link}/bill.txt?sender=Ann`, { method: 'PUT', body: 'content' })
  const [page = ''] = /http\S+\/r\/\S+/.exec(await sent.text()) ?? []
  const { output } = await client.run('receipt', page)
  expect(output).toContain('bill.txt')
  expect(output).toContain('Withdrawable')
  expect((await client.run('receipt', page, '--delete')).code).toBe(0)
  expect((await client.run('receipt', page)).code).toBe(1)
})

test('is deleted for good, and forgotten', async () => {
  const { page, link, slug } = await put('gone.txt', 'content')
  expect(await client.run('receipt', page, '--delete')).toEqual({ code: 0, output: '', errors: '' })
  expect(await status(slug)).toBe(404)
  expect((await client.run('receipt')).output).not.toContain(link)
  const again = await client.run('receipt', page)
  expect(again).toMatchObject({ code: 1, output: '' })
  expect(again.errors).toContain('no upload with this receipt')
})

test('one of a file that is gone is forgotten when it is used', async () => {
  const { page, link } = await put('taken.txt', 'content')
  await fetch(page.replace('/r/', '/api/v1/receipt/'), { method: 'DELETE' })
  expect((await client.run('receipt')).output).toContain(link)
  expect((await client.run('receipt', link)).code).toBe(1)
  expect((await client.run('receipt', link)).errors).toContain('"holdfast receipt" lists')
})

test('is claimed into the account of a login, into a folder', async () => {
  const { page, link, slug } = await put('claimed.txt', 'content')
  const without = await client.run('receipt', link, '--claim')
  expect(without).toMatchObject({ code: 1, output: '' })
  expect(without.errors).toContain('log in')
  const { apiKey } = await host.addAccount()
  using other = newClient()
  await other.login(host.url, apiKey)
  expect((await other.run('mkdir', '/taken')).code).toBe(0)
  const claimed = await other.run('receipt', page, '--claim', '--folder', '/taken', '--name', 'mine.txt')
  expect(claimed).toEqual({ code: 0, output: `${link}\n`, errors: '' })
  expect((await other.run('ls', '/taken')).output).toContain('mine.txt')
  expect(await status(slug)).toBe(200)
  expect((await client.run('receipt', link)).code).toBe(1)
})

test('an upload of an account has none', async () => {
  using other = newClient()
  await other.login(host.url, (await host.addAccount()).apiKey)
  writeFileSync(join(other.folder, 'a.txt'), 'content')
  expect((await other.run('upload', 'a.txt')).errors).toBe('')
  expect(await other.run('receipt')).toEqual({ code: 0, output: '', errors: '' })
})
