import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lines, loggedIn, newClient } from '../../support/cli/client.ts'
import { GENEROUS, randomBytes } from '../../support/clients/public.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'
import { contentAt, stateFiles } from './uploads.ts'

const host = await hostOfFile(GENEROUS)

describe('files', () => {
  test('go up with a link a line, in the order they were named', async () => {
    const { client, account } = await loggedIn(host)
    using _ = client
    const contents = new Map(
      ['large.bin', 'b.txt', 'empty', 'naïve "quoted" 漢字.txt'].map((name, index) => {
        const bytes = name === 'empty' ? new Uint8Array() : randomBytes(index === 0 ? 6_000_000 : 1000)
        writeFileSync(join(client.folder, name), bytes)
        return [name, bytes] as const
      }),
    )
    const { code, output, errors } = await client.run('upload', '--each', ...contents.keys())
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    const links = lines(output)
    expect(links).toHaveLength(contents.size)
    for (const [index, [name, bytes]] of [...contents].entries()) {
      const link = links[index] ?? ''
      expect((await account.get(`/api/v1/file/${link.split('/').at(-1)}`)).body).toMatchObject({
        data: { name },
      })
      expect(await contentAt(link)).toEqual(Buffer.from(bytes))
    }
    expect(stateFiles(client)).toEqual([])
  })

  test('are told of as JSON lines, with what the server has of them', async () => {
    const { client } = await loggedIn(host)
    using _ = client
    writeFileSync(join(client.folder, 'a.txt'), 'content')
    const { output } = await client.run('upload', 'a.txt', '--json')
    const sha256 = new Bun.CryptoHasher('sha256').update('content').digest('hex')
    expect(JSON.parse(output)).toMatchObject({ path: 'a.txt', size: 7, sha256, url: expect.any(String) })
  })

  test('go up as many at once as was asked for, and no more', async () => {
    const { apiKey } = await host.addAccount()
    using client = newClient()
    for (const name of ['1', '2', '3', '4', '5', '6']) writeFileSync(join(client.folder, name), name)
    let waiting: (() => void)[] = []
    let most = 0
    // Lets uploads through when three are there.
    await using gate = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { pathname } = new URL(request.url)
        const { method, headers } = request
        const body = method === 'POST' ? await request.arrayBuffer() : null
        if (pathname === '/api/v1/upload') {
          const opened = new Promise<void>((resolve) => waiting.push(resolve))
          most = Math.max(most, waiting.length)
          if (waiting.length >= 3) {
            for (const open of waiting) open()
            waiting = []
          }
          await opened
        }
        return fetch(host.url + pathname, { method, headers, body })
      },
    })
    const env = { HOLDFAST_SERVER: gate.url.href, HOLDFAST_API_KEY: apiKey }
    const { code, output } = await client.runWith(
      { env },
      'upload',
      '--each',
      '--parallel',
      '3',
      ...['1', '2', '3', '4', '5', '6'],
    )
    expect(code).toBe(0)
    expect(lines(output)).toHaveLength(6)
    expect(most).toBe(3)
  })

  test('go into a folder that is named by its path', async () => {
    const { client, account } = await loggedIn(host)
    using _ = client
    const folder = await account.folder('in', { parent: await account.folder('out') })
    writeFileSync(join(client.folder, 'a.txt'), 'content')
    expect((await client.run('upload', 'a.txt', '--folder', '/out/in')).code).toBe(0)
    expect((await account.get(`/api/v1/folder/${folder}/files`)).body).toMatchObject({
      data: [{ name: 'a.txt' }],
    })
    const nowhere = await client.run('upload', 'a.txt', '--folder', '/out/side')
    expect(nowhere).toMatchObject({ code: 1, output: '' })
    expect(nowhere.errors).toContain('/out/side')
  })

  test('of guests need no login', async () => {
    using client = newClient()
    writeFileSync(join(client.folder, 'a.txt'), 'content')
    const { code, output } = await client.run('upload', '--guest', '--server', host.url, 'a.txt')
    expect(code).toBe(0)
    expect((await contentAt(output.trim())).toString()).toBe('content')
    const without = await client.run('upload', '--server', host.url, 'a.txt')
    expect(without.code).toBe(1)
    expect(without.errors).toContain('--guest')
    expect((await client.run('upload', '--guest', '--folder', '/x', 'a.txt')).code).toBe(2)
  })

  test('that cannot be read fail alone, and the same command goes on with them', async () => {
    const { client, account } = await loggedIn(host)
    using _ = client
    mkdirSync(join(client.folder, 'd'))
    writeFileSync(join(client.folder, 'd/a.txt'), 'a')
    writeFileSync(join(client.folder, 'd/b.txt'), 'b')
    // Too long for the server, which stands for whatever goes wrong with one of several files.
    mkdirSync(join(client.folder, 'd', 'x'.repeat(101)))
    writeFileSync(join(client.folder, 'd', 'x'.repeat(101), 'c.txt'), 'c')
    const first = await client.run('upload', '--each', 'd')
    expect(first.code).toBe(1)
    expect(lines(first.output)).toHaveLength(2)
    expect(first.errors).toContain('100 characters')
    expect(first.errors).toContain('1 of 3 files could not be uploaded')
    const again = await client.run('upload', '--each', 'd')
    expect(again.output).toBe(first.output)
    expect((await account.get('/api/v1/account')).body).toMatchObject({ data: { files_count: 2 } })
  })

  test('all or nothing on messy input: what cannot be read is named, and everything else goes', async () => {
    const { client, account } = await loggedIn(host)
    using _ = client
    mkdirSync(join(client.folder, 'd'))
    writeFileSync(join(client.folder, 'd/a.txt'), 'a')
    symlinkSync('nowhere', join(client.folder, 'd/b.txt'))
    // A folder whose name is no UTF-8 is found under a name that leads nowhere.
    mkdirSync(Buffer.concat([Buffer.from(`${client.folder}/d/`), Buffer.from([0x66, 0xfc, 0x72])]))
    writeFileSync(join(client.folder, 'd/z.txt'), 'z')
    const { code, output, errors } = await client.run('upload', '--each', 'missing.txt', 'd')
    expect([code, lines(output).length]).toEqual([1, 2])
    expect(errors).toContain('missing.txt does not exist')
    expect(errors).toContain('d/b.txt does not exist')
    expect(errors).toMatch(/d\/f.r does not exist/)
    expect(errors).toContain('3 of 5 files could not be uploaded')
    expect((await account.get('/api/v1/account')).body).toMatchObject({ data: { files_count: 2 } })
  })
})

test('a folder keeps its structure, and is not made twice', async () => {
  const { client } = await loggedIn(host)
  using _ = client
  for (const folder of ['photos/2026/may', 'photos/2026/june', 'photos/empty']) {
    mkdirSync(join(client.folder, folder), { recursive: true })
  }
  for (const path of [
    'photos/top.txt',
    'photos/2026/may/1.txt',
    'photos/2026/may/2.txt',
    'photos/2026/june/1.txt',
  ]) {
    writeFileSync(join(client.folder, path), path)
  }
  expect(lines((await client.run('upload', '--each', 'photos')).output)).toHaveLength(4)
  const back = await client.run('download', '/photos', '--output', 'back')
  expect(lines(back.output).toSorted()).toEqual([
    'back/photos/2026/june/1.txt',
    'back/photos/2026/may/1.txt',
    'back/photos/2026/may/2.txt',
    'back/photos/top.txt',
  ])
  expect(existsSync(join(client.folder, 'back/photos/empty'))).toBe(true)
  writeFileSync(join(client.folder, 'photos/2026/new.txt'), 'new')
  await client.run('upload', 'photos/2026/new.txt', '--folder', '/photos/2026')
  expect(lines((await client.run('ls', '/', '--json')).output)).toHaveLength(1)
})

test('what stands for an upload on the way is for its owner alone, and is there before the first byte', async () => {
  const { client } = await loggedIn(host)
  using _ = client
  writeFileSync(join(client.folder, 'a.txt'), 'a')
  chmodSync(client.home, 0o755)
  // A folder the server does not take lets the command fail, so that its states stay.
  mkdirSync(join(client.folder, 'x'.repeat(101)))
  writeFileSync(join(client.folder, 'x'.repeat(101), 'b.txt'), 'b')
  await client.run('upload', '--each', 'a.txt', 'x'.repeat(101))
  const [state] = stateFiles(client)
  const folder = join(client.home, 'state/holdfast/uploads')
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, state ?? '')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toHaveLength(1)
})
