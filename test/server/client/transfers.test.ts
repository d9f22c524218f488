/** Several things go up as one transfer, with one link for all of it. */
import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Client, lines, loggedIn, newClient } from '../../support/cli/client.ts'
import { api } from '../../support/clients/api.ts'
import { elements, GENEROUS, visit } from '../../support/clients/public.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'
import { stateFiles } from './uploads.ts'

const host = await hostOfFile(GENEROUS)
const asGuest = ['--guest', '--server', host.url]

/** `photos/top.txt` and `photos/2026/1.txt` */
function writePhotos({ folder }: Client): void {
  mkdirSync(join(folder, 'photos/2026'), { recursive: true })
  for (const path of ['photos/top.txt', 'photos/2026/1.txt']) writeFileSync(join(folder, path), path)
}

async function namesAt(link: string): Promise<(string | undefined)[]> {
  const page = await visit(host, link)
  expect(page.status).toBe(200)
  return elements(await page.text(), '.file-item')
    .map(({ attributes }) => attributes['data-name'])
    .sort()
}

/** What the link has, by the path of each file. */
async function bytesAt(client: Client, link: string): Promise<Record<string, string>> {
  const archive = (await client.run('download', link)).output.trim()
  const unpacked = Bun.spawnSync(['unzip', '-q', archive, '-d', 'back'], { cwd: client.folder })
  expect(unpacked.exitCode).toBe(0)
  const paths = readdirSync(join(client.folder, 'back'), { recursive: true, withFileTypes: true })
  const files = paths.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const read = files.map(async (path) => [path.split('/').at(-1), await Bun.file(path).text()] as const)
  return Object.fromEntries(await Promise.all(read))
}

test.each(['an account', 'a guest'])('%s gets one link for several files', async (who) => {
  using client = who === 'a guest' ? newClient() : (await loggedIn(host)).client
  const words = who === 'a guest' ? asGuest : []
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(client.folder, name), name)
  const { code, output, errors } = await client.run('upload', ...words, 'a.txt', 'b.txt')
  const [link = '', ...others] = lines(output)
  expect([code, others]).toEqual([0, []])
  expect(new URL(link).pathname).toStartWith('/l/')
  expect(await namesAt(link)).toEqual(['a.txt', 'b.txt'])
  expect(stateFiles(client)).toEqual([])
  const receipt = /\/r\/(\S+)/.exec(errors)?.[1]
  if (who === 'an account') return expect(errors).toBe('')
  expect((await client.run('receipt', '--server', host.url, '--delete', receipt ?? '')).code).toBe(0)
  expect((await visit(host, link)).status).toBe(404)
})

test.each(['an account', 'a guest'])(
  'a folder of %s is the transfer, and keeps its structure',
  async (who) => {
    using client = who === 'a guest' ? newClient() : (await loggedIn(host)).client
    writePhotos(client)
    const { output } = await client.run('upload', ...(who === 'a guest' ? asGuest : []), 'photos')
    const link = output.trim()
    expect(await (await visit(host, link)).text()).toContain('photos')
    expect(await namesAt(link)).toEqual(['top.txt'])
    expect(await bytesAt(client, link)).toEqual({ 'top.txt': 'photos/top.txt', '1.txt': 'photos/2026/1.txt' })
  },
)

test('terms close it, also around one file', async () => {
  const { client } = await loggedIn(host)
  using _ = client
  writeFileSync(join(client.folder, 'a.txt'), 'secret')
  const terms = ['--password', 'lake', '--until', '7d', '--downloads', '2', '--message', 'Here it is']
  const { output } = await client.run('upload', 'a.txt', ...terms, '--json')
  const { link, slug } = z.object({ link: z.string(), slug: z.string() }).parse(JSON.parse(output))
  expect(await (await visit(host, link)).text()).toContain('type="password"')
  expect((await visit(host, `/d/${slug}`)).status).toBe(404)
  const own = await client.run('links', '--json')
  expect(JSON.parse(lines(own.output)[0] ?? '')).toMatchObject({ has_password: true, max_downloads: 2 })
  const wrong = await client.run('upload', 'a.txt', '--each', '--password', 'lake')
  expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining('--each')])
})

test('the same command goes on with the same transfer, which says what is missing until then', async () => {
  using client = newClient()
  writePhotos(client)
  const long = 'x'.repeat(101)
  mkdirSync(join(client.folder, 'photos', long))
  writeFileSync(join(client.folder, 'photos', long, 'c.txt'), 'c')
  const first = await client.run('upload', ...asGuest, 'photos', '--json')
  expect([first.code, lines(first.output).length]).toEqual([1, 3])
  const link = z.object({ link: z.string() }).parse(JSON.parse(lines(first.output)[0] ?? '')).link
  const receipt = /\/r\/(\S+)/.exec(first.errors)?.[1] ?? ''
  const whole = async () => (await api(host).get(`/api/v1/receipt/${receipt}`)).body
  expect(await whole()).toMatchObject({ data: { transfer: { arrived_files: 2, is_whole: false } } })
  Bun.spawnSync(['mv', long, 'short'], { cwd: join(client.folder, 'photos') })
  const again = await client.run('upload', ...asGuest, 'photos')
  expect([again.code, again.output.trim()]).toEqual([0, link])
  expect(await whole()).toMatchObject({ data: { transfer: { arrived_files: 3, is_whole: true } } })
  expect(stateFiles(client)).toEqual([])
})

test('one that was deleted meanwhile is made anew', async () => {
  const { client, account } = await loggedIn(host)
  using _ = client
  writeFileSync(join(client.folder, 'a.txt'), 'a')
  const first = await client.run('upload', 'a.txt', 'missing.txt', '--json')
  const { link } = z.object({ link: z.string() }).parse(JSON.parse(lines(first.output)[0] ?? ''))
  const slug = link.split('/').at(-1)
  expect((await account.send(`/api/v1/links/${slug}`, { method: 'DELETE' })).status).toBe(200)
  writeFileSync(join(client.folder, 'missing.txt'), 'b')
  const again = await client.run('upload', 'a.txt', 'missing.txt')
  expect(again.code).toBe(0)
  expect(again.output.trim()).not.toBe(link)
  expect(await namesAt(again.output.trim())).toEqual(['a.txt', 'missing.txt'])
})
