/** The client against servers and folders that mean it ill: escape sequences in answers, and links where it writes. */
import { describe, expect, test } from 'bun:test'
import { linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plainJson } from '../../../src/client/failure.ts'
import { parseServer } from '../../../src/client/http.ts'
import { partName } from '../../../src/client/places.ts'
import { newClient } from '../../support/cli/client.ts'
import { GENEROUS, signedAddress, textBytes, upload } from '../../support/clients/public.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

/** Clears the screen, renames the window, turns the direction around, and pretends another line. */
const ESCAPES = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eevil\r\nerror: none'

const host = await hostOfFile(GENEROUS)

describe('escape sequences of a server', () => {
  test.each(['login', 'ls', 'upload'])('never reach the terminal, with %s', async (command) => {
    await using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => Response.json({ success: false, message: ESCAPES, error: 'FORBIDDEN' }, { status: 403 }),
    })
    using client = newClient()
    writeFileSync(join(client.folder, 'a.txt'), 'bytes')
    const env = { HOLDFAST_API_KEY: 'hf_key', HOLDFAST_SERVER: server.url.origin }
    const words = { login: [server.url.origin], ls: [], upload: ['a.txt'] }[command] ?? []
    const { code, output, errors } = await client.runWith({ env }, command, ...words)
    expect(code).toBe(1)
    expect(errors).toContain('evil')
    expect(output + errors.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(errors).not.toContain('\nerror: none')
  })

  test('are escaped in JSON, with the same meaning', () => {
    const written = plainJson({ name: ESCAPES })
    expect(written).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(JSON.parse(written)).toEqual({ name: ESCAPES })
  })
})

describe('an address of a server that leads to no server', () => {
  const hops = ['the signed address', 'what it sends on to', 'what a made link sends on to'] as const
  const schemes = (path: string) => [`file://${path}`, 'data:text/plain,owned', 'ftp://127.0.0.1/x']

  test.each(hops)(
    'is refused at once, and no file of this machine is taken for a download: %s',
    async (hop) => {
      using client = newClient()
      const secret = join(client.home, 'secret.txt')
      writeFileSync(secret, 'of this machine')
      for (const bad of schemes(secret)) {
        await using server = Bun.serve({
          hostname: '127.0.0.1',
          port: 0,
          fetch(request, { url }) {
            const { pathname } = new URL(request.url)
            const sendOn = () => new Response(null, { status: 302, headers: { location: bad } })
            if (pathname.startsWith('/l/')) return sendOn()
            if (pathname === '/v2/api/public/download') {
              const at = hop === 'the signed address' ? bad : url.origin
              const told = { file: 'a.txt', name: 'a.txt', server: at, token: 't', expires_in: 1800 }
              return Response.json({ success: true, ...told })
            }
            if (request.method === 'HEAD') return new Response(null, { headers: { 'content-length': '15' } })
            return sendOn()
          },
        })
        const page = hop === 'what a made link sends on to' ? 'l/q7xk2fmw9hbz4tdc' : 'd/Kx3RmP7vTq2a'
        const { code, errors } = await client.run('download', `${server.url}${page}`)
        expect(code).toBe(1)
        expect(errors).toContain('no address on the web')
        expect(readdirSync(client.folder).filter((name) => !name.endsWith('.part'))).toEqual([])
      }
    },
  )
})

describe('symbolic and hard links where an unfinished download lies', () => {
  test.each([
    ['a symbolic link', symlinkSync],
    ['a hard link', linkSync],
  ] as const)('%s is not written through', async (_, link) => {
    using client = newClient()
    const victim = join(client.home, 'victim.txt')
    writeFileSync(victim, 'mine')
    const file = await upload(host, { name: 'a.txt', bytes: textBytes('from the server') })
    const address = await signedAddress(host, file)
    const etag = (await fetch(new URL(address, host.url), { method: 'HEAD' })).headers.get('etag') ?? ''
    const tag = new Bun.CryptoHasher('sha256').update(etag).digest('hex').slice(0, 12)
    link(victim, join(client.folder, partName('a.txt', tag)))
    const { code, errors } = await client.run('download', file.url)
    expect({ code, victim: readFileSync(victim, 'utf8') }).toEqual({ code: 1, victim: 'mine' })
    expect(errors).toContain('is a link or no plain file')
  })
})

test.each([
  ['localhost:3000', 'http://localhost:3000'],
  ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ['[::1]:3000', 'http://[::1]:3000'],
  ['files.localhost', 'http://files.localhost'],
  ['https://localhost:3000', 'https://localhost:3000'],
  ['files.example.org', 'https://files.example.org'],
  ['localhost.example.org', 'https://localhost.example.org'],
])('the server %s is %s', (text, origin) => {
  expect(parseServer(text)).toBe(origin)
})

test('logging out forgets the key of the server, and only that', async () => {
  using client = newClient()
  const { apiKey } = await host.addAccount('leaving')
  await client.login(host.url, apiKey)
  expect(await client.run('logout')).toEqual({ code: 0, output: `Logged out of ${host.url}.\n`, errors: '' })
  expect((await client.run('info')).code).toBe(1)
  expect((await client.run('logout', host.url)).errors).toBe(`error: you are not logged in to ${host.url}.\n`)
})
