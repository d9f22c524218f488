// Only in test:all: many starts of the program; files-and-folders.test.ts has some.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, lines, newClient } from '../../support/cli/client.ts'
import { type Api, api } from '../../support/clients/api.ts'
import { makeLink, revokeLink } from '../../support/clients/links.ts'
import { GENEROUS, randomBytes } from '../../support/clients/public.ts'
import { tus } from '../../support/clients/tus.ts'
import { eventually } from '../../support/eventually.ts'
import { describeWith } from '../../support/processes/tools.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { type FaultProxy, startFaultProxy } from '../../support/storage/fault-proxy.ts'

const MIB = 1024 * 1024

let host: TestHoldfast
let account: Api
let key: string
/** In front of the server, for the bytes alone: links to files lead to the server itself. */
let proxy: FaultProxy
beforeAll(async () => {
  host = await startHoldfast(GENEROUS)
  key = (await host.addAccount()).apiKey
  account = api(host, key)
  proxy = await startFaultProxy(host.url)
})
afterAll(async () => {
  await proxy.stop()
  await host.stop()
})

function contentIn(client: Client, ...path: string[]): Buffer {
  return readFileSync(join(client.folder, ...path))
}

/** Bytes of files that are not finished. */
function sizeOfParts(client: Client): number {
  const parts = readdirSync(client.folder).filter((name) => name.endsWith('.part'))
  return parts.reduce((sum, name) => sum + statSync(join(client.folder, name)).size, 0)
}

/** A signed address whose bytes come through the proxy. */
async function throughProxy(slug: string): Promise<string> {
  const answer = await account.post('/v2/api/public/download', { file_slug: slug })
  const { file, token } = answer.body as { file: string; token: string }
  return `${proxy.url}/v2/${file}?token=${token}&download=true`
}

describe('one file', () => {
  test('is had by its link without a login, under its name', async () => {
    using client = newClient()
    const bytes = randomBytes(3 * MIB + 1)
    const { url } = await account.put(bytes, { name: 'film.mkv' })
    const { code, output, errors } = await client.run('download', url)
    expect({ code, output, errors }).toEqual({ code: 0, output: 'film.mkv\n', errors: '' })
    expect(contentIn(client, 'film.mkv')).toEqual(Buffer.from(bytes))
    expect(readdirSync(client.folder)).toEqual(['film.mkv'])
  })

  test('comes while it is being uploaded, and is verified once it is whole', async () => {
    using client = newClient()
    const bytes = randomBytes(MIB)
    const upload = tus(account)
    const { path, slug } = await upload.start(bytes.length, { filename: 'film.mkv' })
    await upload.patch(path, 0, bytes.slice(0, MIB / 2))
    const done = client.start('download', `${host.url}/d/${slug}`).outcome
    await eventually('half of it came', () => sizeOfParts(client) === MIB / 2)
    await upload.patch(path, MIB / 2, bytes.slice(MIB / 2))
    expect(await done).toEqual({ code: 0, output: 'film.mkv\n', errors: '' })
    expect(contentIn(client, 'film.mkv')).toEqual(Buffer.from(bytes))
    expect(readdirSync(client.folder)).toEqual(['film.mkv'])
  })

  test('that is given up while it is being uploaded is an error', async () => {
    using client = newClient()
    const upload = tus(account)
    const { path, slug } = await upload.start(MIB, { filename: 'never.mkv' })
    await upload.patch(path, 0, randomBytes(MIB / 2))
    const done = client.start('download', `${host.url}/d/${slug}`).outcome
    await eventually('half of it came', () => sizeOfParts(client) === MIB / 2)
    await upload.remove(path)
    const { code, errors } = await done
    expect(code).toBe(1)
    expect(errors).toContain('whoever was sending it has given up.')
    expect(readdirSync(client.folder)).toEqual([])
  })

  test('is had by slug and by path with a login, into a folder that is made', async () => {
    using client = newClient()
    await client.login(host.url, key)
    const folder = await account.folder('hidden', { public: 0 })
    const { slug, sha256 } = await account.put('secret', { name: 'a.txt', folder })
    const { output } = await client.run('download', slug, '--output', 'to/here', '--json')
    expect(JSON.parse(output)).toEqual({ path: 'to/here/a.txt', size: 6, sha256, was_there: false })
    expect((await client.run('download', '/hidden/a.txt')).output).toBe('a.txt\n')
    expect(contentIn(client, 'a.txt').toString()).toBe('secret')
  })

  test('may be empty', async () => {
    using client = newClient()
    const { url } = await account.put('', { name: 'empty' })
    expect((await client.run('download', url)).code).toBe(0)
    expect(statSync(join(client.folder, 'empty')).size).toBe(0)
  })

  test('does not take the place of another one, unless it is told to', async () => {
    using client = newClient()
    writeFileSync(join(client.folder, 'a.txt'), 'mine')
    const { url } = await account.put('theirs', { name: 'a.txt' })
    expect((await client.run('download', url)).output).toBe('a (2).txt\n')
    expect(contentIn(client, 'a.txt').toString()).toBe('mine')
    expect((await client.run('download', url, '--force')).output).toBe('a.txt\n')
    expect(contentIn(client, 'a.txt').toString()).toBe('theirs')
  })

  test('that is there already is left as it is', async () => {
    using client = newClient()
    const { url } = await account.put('same', { name: 'a.txt' })
    await client.run('download', url)
    const { output } = await client.run('download', url, '--json')
    expect(JSON.parse(output)).toMatchObject({ path: 'a.txt', was_there: true })
    expect(readdirSync(client.folder)).toEqual(['a.txt'])
  })

  test('that does not exist fails alone', async () => {
    using client = newClient()
    const { url } = await account.put('x', { name: 'a.txt' })
    const missing = `${host.url}/d/Zz0000000000`
    const { code, output, errors } = await client.run('download', missing, url)
    expect({ code, output }).toEqual({ code: 1, output: 'a.txt\n' })
    expect(errors).toContain(`error: ${missing}: `)
    expect(errors).toContain('1 of 2 files could not be downloaded')
  })
})

describeWith(['unzip'], 'a made link', () => {
  test('to one file gives it once its password is given, and counts one download', async () => {
    using client = newClient()
    const bytes = randomBytes(MIB)
    const { slug: file } = await account.put(bytes, { name: 'film.mkv' })
    const slug = await makeLink(host, key, { files: [file], password: 'sesame', max_downloads: 1 })
    const link = `${host.url}/l/${slug}`
    expect((await client.run('download', link)).errors).toContain('a password is needed')
    expect((await client.run('download', link, '--password', 'x')).errors).toContain('the password is wrong')
    const { code, output, errors } = await client.run('download', link, '--password', 'sesame')
    expect({ code, output, errors }).toEqual({ code: 0, output: 'film.mkv\n', errors: '' })
    expect(contentIn(client, 'film.mkv')).toEqual(Buffer.from(bytes))
    const again = await client.run('download', link, '--password', 'sesame', '--force')
    expect(again).toMatchObject({ code: 1, errors: expect.stringContaining('download') })
    expect(await account.get(`/api/v1/links/${slug}`)).toMatchObject({ body: { data: { downloads: 1 } } })
  })

  test('to several things, or to a folder, gives a zip of them', async () => {
    using client = newClient()
    const folder = await account.folder('weekend', { public: 0 })
    const { slug: inside } = await account.put('beach', { name: 'beach.txt', folder })
    const { slug: beside } = await account.put('letter', { name: 'letter.txt' })
    for (const [targets, names] of [
      [{ files: [inside, beside] }, ['beach.txt', 'letter.txt']],
      [{ folders: [folder] }, ['weekend/beach.txt']],
    ] as const) {
      const slug = await makeLink(host, key, { ...targets, name: 'Weekend' })
      const { code, output } = await client.run('download', `${host.url}/l/${slug}`)
      expect(code).toBe(0)
      const listing = await Bun.$`unzip -Z1 ${join(client.folder, output.trim())}`.text()
      for (const name of names) expect(listing).toContain(name.split('/').at(-1) ?? '')
    }
  })

  test('that was revoked gives nothing', async () => {
    using client = newClient()
    const { slug: file } = await account.put('gone', { name: 'gone.txt' })
    const slug = await makeLink(host, key, { files: [file] })
    await revokeLink(host, key, slug)
    const { code, errors } = await client.run('download', `${host.url}/l/${slug}`)
    expect({ code, isTold: errors.includes('There is no such link') }).toEqual({ code: 1, isTold: true })
  })
})

describe('what was cut off', () => {
  test('goes on in the same run, and each byte is asked for once', async () => {
    using client = newClient()
    const bytes = randomBytes(4 * MIB)
    const { slug } = await account.put(bytes, { name: 'cut.bin' })
    const isBytes = ({ method }: { method: string }) => method === 'GET'
    proxy.inject({ kind: 'cut-response', after: MIB }, { match: isBytes, times: 2 })
    const { code } = await client.run('download', await throughProxy(slug))
    expect(code).toBe(0)
    expect(contentIn(client, 'cut.bin')).toEqual(Buffer.from(bytes))
  })

  test('goes on in another run after SIGKILL, and has its name only when it is whole', async () => {
    using client = newClient()
    const bytes = randomBytes(4 * MIB)
    const { slug } = await account.put(bytes, { name: 'killed.bin' })
    const link = await throughProxy(slug)
    proxy.inject({ kind: 'stall-response', after: 2 * MIB }, { match: ({ method }) => method === 'GET' })
    const started = client.start('download', link)
    await eventually('half of it has come', () =>
      readdirSync(client.folder).some((name) => statSync(join(client.folder, name)).size >= 2 * MIB),
    )
    await started.kill()
    const [part] = readdirSync(client.folder)
    expect(part).toMatch(/^killed\.bin\.[0-9a-f]{12}\.part$/)
    const again = await client.run('download', link)
    expect(again).toMatchObject({ code: 0, output: 'killed.bin\n' })
    expect(contentIn(client, 'killed.bin')).toEqual(Buffer.from(bytes))
    expect(readdirSync(client.folder)).toEqual(['killed.bin'])
  })

  test('comes anew when what was left of it is damaged', async () => {
    using client = newClient()
    const bytes = randomBytes(MIB)
    const { slug } = await account.put(bytes, { name: 'spoilt.bin' })
    const link = await throughProxy(slug)
    proxy.inject({ kind: 'stall-response', after: MIB / 2 }, { match: ({ method }) => method === 'GET' })
    const started = client.start('download', link)
    const isHalf = (name: string) => statSync(join(client.folder, name)).size >= MIB / 2
    await eventually('half of it has come', () => readdirSync(client.folder).some(isHalf))
    await started.kill()
    const [part = ''] = readdirSync(client.folder)
    writeFileSync(join(client.folder, part), Buffer.alloc(MIB / 2))
    expect((await client.run('download', link)).code).toBe(0)
    expect(contentIn(client, 'spoilt.bin')).toEqual(Buffer.from(bytes))
  })
})

describe('a folder', () => {
  test('comes with all below it, empty folders too, and with names that this system can have', async () => {
    using client = newClient()
    const top = await account.folder('album')
    const sub = await account.folder('2026', { parent: top })
    await account.folder('empty', { parent: sub })
    await account.put('one', { name: 'same.txt', folder: top })
    await account.put('two', { name: 'same.txt', folder: top })
    await account.put('three', { name: 'deep.txt', folder: sub })
    const { code, output } = await client.run('download', `${host.url}/f/${top}`)
    expect(code).toBe(0)
    expect(lines(output).toSorted()).toEqual(['album/2026/deep.txt', 'album/same (2).txt', 'album/same.txt'])
    expect(existsSync(join(client.folder, 'album/2026/empty'))).toBe(true)
    const both = ['same.txt', 'same (2).txt'].map((name) => contentIn(client, 'album', name).toString())
    expect(both.toSorted()).toEqual(['one', 'two'])
    const again = await client.run('download', `${host.url}/f/${top}`, '--json')
    expect(lines(again.output).every((line) => JSON.parse(line).was_there)).toBe(true)
    expect(readdirSync(join(client.folder, 'album')).toSorted()).toEqual(['2026', 'same (2).txt', 'same.txt'])
  })

  test('numbers names as an archive of it does, where what follows a dot is no extension', async () => {
    using client = newClient()
    const folder = await account.folder('films')
    for (const content of ['one', 'two']) await account.put(content, { name: 'Dr. No', folder })
    expect(await client.run('download', `${host.url}/f/${folder}`)).toMatchObject({ code: 0 })
    expect(readdirSync(join(client.folder, 'films')).toSorted()).toEqual(['Dr. No', 'Dr. No (2)'])
  })

  test('of more files than a page holds comes whole', async () => {
    using client = newClient()
    const folder = await account.folder('many')
    for (let number = 0; number < 105; number++)
      await account.put(`${number}`, { name: `${number}.txt`, folder })
    expect(lines((await client.run('download', `${host.url}/f/${folder}`)).output)).toHaveLength(105)
    expect(readdirSync(join(client.folder, 'many'))).toHaveLength(105)
  })

  test('shows strangers nothing private, and its owner everything', async () => {
    using client = newClient()
    const top = await account.folder('open')
    const hidden = await account.folder('hidden', { parent: top, public: 0 })
    await account.put('x', { name: 'x.txt', folder: hidden })
    await client.run('download', `${host.url}/f/${top}`)
    expect(readdirSync(join(client.folder, 'open'))).toEqual([])
    await client.login(host.url, key)
    await client.run('download', '/open')
    expect(readdirSync(join(client.folder, 'open/hidden'))).toEqual(['x.txt'])
  })

  test('with a password is opened by it, the files in it by their own links too', async () => {
    using client = newClient()
    const top = await account.folder('locked', { password: 'sesame' })
    const sub = await account.folder('inside', { parent: top, password: 'sesame' })
    const file = await account.put('x', { name: 'x.txt', folder: sub })
    const link = `${host.url}/f/${top}`
    const none = await client.run('download', link)
    expect(none).toMatchObject({ code: 1, output: '' })
    expect(none.errors).toContain('--password')
    const wrong = await client.run('download', link, '--password', 'other')
    expect(wrong).toMatchObject({ code: 1, output: '' })
    expect(wrong.errors).toContain('the password is wrong')
    const right = await client.run('download', link, '--password', 'sesame')
    expect(right).toMatchObject({ code: 0, output: 'locked/inside/x.txt\n' })
    const env = { HOLDFAST_PASSWORD: 'sesame' }
    expect(await client.runWith({ env }, 'download', file.url)).toMatchObject({ code: 0, output: 'x.txt\n' })
  })

  test('inside which one is locked fails for that one alone', async () => {
    using client = newClient()
    const top = await account.folder('half')
    const sub = await account.folder('locked half', { parent: top, password: 'sesame' })
    await account.put('x', { name: 'x.txt', folder: sub })
    await account.put('y', { name: 'y.txt', folder: top })
    const { code, output, errors } = await client.run('download', `${host.url}/f/${top}`)
    expect({ code, output }).toEqual({ code: 1, output: 'half/y.txt\n' })
    expect(errors).toContain('password')
  })
})

test('a name that leads elsewhere does not', async () => {
  using client = newClient()
  mkdirSync(join(client.folder, 'in'))
  const { url } = await account.put('x', { name: '..\\\\..\\\\outside.txt' })
  expect((await client.run('download', url, '--output', 'in')).output).toBe('in/..\\..\\outside.txt\n')
})
