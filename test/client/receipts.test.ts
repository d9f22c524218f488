/** What guests have uploaded by the command line, and their receipts. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GENEROUS, randomBytes, visit } from '../support/clients/public.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { type Client, lines, newClient } from './client.ts'

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
