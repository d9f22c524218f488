// Only in test:all: many starts of the program; upload.test.ts has some.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Client, lines, newClient } from '../../support/cli/client.ts'
import { type Api, api } from '../../support/clients/api.ts'
import { GENEROUS, randomBytes } from '../../support/clients/public.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { startBalancer } from '../../support/servers/balancer.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from '../../support/storage/fault-proxy.ts'
import { contentAt, stateFiles } from './uploads.ts'

const MIB = 1024 * 1024

let host: TestHoldfast
/** Between client and server. */
let proxy: FaultProxy
beforeAll(async () => {
  host = await startHoldfast(GENEROUS)
  proxy = await startFaultProxy(host.url)
})
afterAll(async () => {
  await proxy.stop()
  await host.stop()
})

/** A client with an account of its own, whose server is at the given address, and a file to send. */
async function sender(size: number, server = proxy.url) {
  const { apiKey } = await host.addAccount()
  const client = newClient()
  await client.login(server, apiKey)
  const bytes = randomBytes(size)
  writeFileSync(join(client.folder, 'film.bin'), bytes)
  return { client, account: api(host, apiKey), bytes, apiKey }
}

const isChunk = ({ method }: ProxiedRequest) => method === 'PATCH'
const isWhole = ({ method, path }: ProxiedRequest) => method === 'POST' && path === '/api/v1/upload'
/** So small that a test needs few bytes for several. */
const CHUNKS = ['--chunk-size', '1MB']

async function expectStored(account: Api, output: string, bytes: Uint8Array): Promise<void> {
  expect(lines(output)).toHaveLength(1)
  expect(await contentAt(output.trim())).toEqual(Buffer.from(bytes))
  expect((await account.get('/api/v1/account')).body).toMatchObject({
    data: { files_count: 1, storage_used: bytes.length },
  })
}

const unfinished = z.object({ data: z.array(z.unknown()) })

async function unfinishedUploads(account: Api): Promise<number> {
  return unfinished.parse((await account.get('/api/v1/uploads')).body).data.length
}

describe('a connection that is cut', () => {
  test('again and again costs no more than what was under way', async () => {
    const { client, account, bytes } = await sender(8 * MIB)
    using _ = client
    const before = proxy.requests.length
    proxy.inject({ kind: 'cut-request', after: MIB / 2 }, { match: isChunk, times: 3 })
    proxy.inject({ kind: 'lose-answer' }, { match: isChunk, times: 2 })
    const { code, output, errors } = await client.run('upload', 'film.bin', ...CHUNKS)
    expect(code).toBe(0)
    // What takes more than one request has its link at its beginning.
    expect(errors).toContain(`film.bin has its link already: ${output.trim()}`)
    await expectStored(account, output, bytes)
    const chunks = proxy.requests.slice(before).filter(isChunk).length
    expect(chunks).toBeLessThanOrEqual(8 + 5 + 1)
    expect(stateFiles(client)).toEqual([])
  })

  test('before the answer to a small file has come stores it once', async () => {
    const { client, account, bytes } = await sender(1000)
    using _ = client
    proxy.inject({ kind: 'lose-answer' }, { match: isWhole })
    const { code, output } = await client.run('upload', 'film.bin')
    expect(code).toBe(0)
    await expectStored(account, output, bytes)
  })

  test('under standard input is survived too', async () => {
    const { client, account, bytes } = await sender(6 * MIB)
    using _ = client
    proxy.inject({ kind: 'cut-request', after: MIB / 2 }, { match: isChunk, times: 2 })
    proxy.inject({ kind: 'lose-answer' }, { match: isChunk })
    const { code, output } = await client.runWith(
      { stdin: bytes },
      'upload',
      '-',
      '--name',
      'in.bin',
      ...CHUNKS,
    )
    expect(code).toBe(0)
    await expectStored(account, output, bytes)
    expect((await client.run('ls')).output).toContain('in.bin')
  })
})

test.each([[0], [1000], [8 * MIB], [8 * MIB + 1]])(
  'standard input of %i bytes arrives whole',
  async (size) => {
    const { client, account, bytes } = await sender(size, host.url)
    using _ = client
    const { code, output, errors } = await client.runWith({ stdin: bytes }, 'upload', '-')
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    await expectStored(account, output, bytes)
  },
)

test('standard input without a name is called after what it is', async () => {
  const { client, account } = await sender(0, host.url)
  using _ = client
  const { output } = await client.runWith({ stdin: new TextEncoder().encode('a line\n') }, 'put', '-')
  const answer = await account.get(`/api/v1/file/${output.trim().split('/').at(-1)}`)
  expect(answer.body).toMatchObject({ data: { name: 'text.txt', type: 'text/plain', size: 7 } })
})

describe('a client that is killed', () => {
  test('goes on with the same command where it was', async () => {
    const { client, account, bytes } = await sender(8 * MIB)
    using _ = client
    await killInTheMiddle(client)
    const before = proxy.requests.length
    const { code, output } = await client.run('upload', 'film.bin', ...CHUNKS)
    expect(code).toBe(0)
    await expectStored(account, output, bytes)
    const sent = proxy.requests.slice(before)
    expect(sent.filter(isChunk).length).toBeLessThan(8)
    expect(sent.some(({ method, path }) => method === 'POST' && path === '/api/v1/uploads')).toBe(false)
    expect(stateFiles(client)).toEqual([])
  })

  test('goes on as a guest, too', async () => {
    using client = newClient()
    const bytes = randomBytes(8 * MIB)
    writeFileSync(join(client.folder, 'film.bin'), bytes)
    const asGuest = ['--guest', '--server', proxy.url]
    await killInTheMiddle(client, ...asGuest)
    const before = proxy.requests.length
    const { code, output } = await client.run('upload', 'film.bin', ...CHUNKS, ...asGuest)
    expect(code).toBe(0)
    expect(await contentAt(output.trim())).toEqual(Buffer.from(bytes))
    const sent = proxy.requests.slice(before)
    expect(sent.filter(isChunk).length).toBeLessThan(8)
    expect(sent.some(({ method, path }) => method === 'POST' && path === '/api/v1/uploads')).toBe(false)
    expect(stateFiles(client)).toEqual([])
  })

  test('begins anew with a file that has changed since', async () => {
    const { client, account, bytes } = await sender(8 * MIB)
    using _ = client
    await killInTheMiddle(client)
    appendFileSync(join(client.folder, 'film.bin'), 'more')
    const { code, output } = await client.run('upload', 'film.bin', ...CHUNKS)
    expect(code).toBe(0)
    await expectStored(account, output, Buffer.concat([bytes, Buffer.from('more')]))
  })

  /** Lets three chunks through, and kills it while the next one is stuck. */
  async function killInTheMiddle(client: Client, ...words: string[]): Promise<void> {
    let chunks = 0
    const isLater = (request: ProxiedRequest) => isChunk(request) && ++chunks > 3
    proxy.inject({ kind: 'stall' }, { match: isLater })
    const started = client.start('upload', 'film.bin', ...CHUNKS, ...words)
    await eventually('three chunks have arrived', () => chunks > 3)
    await started.kill()
    proxy.heal()
    expect(stateFiles(client)).toHaveLength(1)
  }
})

test('a file that changes while it is sent is an error, and nothing of it stays', async () => {
  const { client, account } = await sender(4 * MIB)
  using _ = client
  let chunks = 0
  proxy.inject(
    { kind: 'cut' },
    {
      match: (request) => {
        if (!isChunk(request)) return false
        chunks += 1
        if (chunks === 2) appendFileSync(join(client.folder, 'film.bin'), 'more')
        return chunks === 2
      },
    },
  )
  const { code, output, errors } = await client.run('upload', 'film.bin', ...CHUNKS)
  expect({ code, output }).toEqual({ code: 1, output: '' })
  expect(errors).toContain('film.bin changed while it was sent')
  expect(stateFiles(client)).toEqual([])
  expect(await unfinishedUploads(account)).toBe(0)
  expect((await account.get('/api/v1/account')).body).toMatchObject({ data: { files_count: 0 } })
})

describe('a check at the beginning stands for the whole: a file of the command line', () => {
  const changes = {
    overwritten: (path: string) => overwrite(path, randomBytes(6 * MIB)),
    'replaced by another': (path: string) => {
      writeFileSync(`${path}.new`, randomBytes(12 * MIB))
      renameSync(`${path}.new`, path)
    },
    removed: (path: string) => rmSync(path),
    'made longer': (path: string) => appendFileSync(path, 'more'),
  }

  test.each(Object.entries(changes))(
    'that is %s while its only large request is under way is not stored',
    async (_name, change) => {
      const { client, account } = await sender(12 * MIB)
      using _ = client
      let hasChanged = false
      proxy.inject(
        { kind: 'cut' },
        {
          match: (request) => {
            if (isChunk(request) && !hasChanged) {
              hasChanged = true
              change(join(client.folder, 'film.bin'))
            }
            return false
          },
        },
      )
      const { code, output, errors } = await client.run('upload', 'film.bin')
      expect({ code, output }).toEqual({ code: 1, output: '' })
      expect(errors).toContain('film.bin changed while it was sent')
      expect(await unfinishedUploads(account)).toBe(0)
      expect((await account.get('/api/v1/account')).body).toMatchObject({ data: { files_count: 0 } })
      proxy.heal()
    },
  )
})

describe('likeness taken for identity: a file of the same size and date with other bytes', () => {
  const BEFORE = 1_700_000_000

  /** Writes a file that has the same date whatever its bytes. */
  function write(client: Client, name: string, bytes: Uint8Array): void {
    overwrite(join(client.folder, name), bytes)
    utimesSync(join(client.folder, name), BEFORE, BEFORE)
  }

  test('does not go on with the upload of what it was', async () => {
    const { client, account } = await sender(0)
    using _ = client
    write(client, 'film.bin', randomBytes(8 * MIB))
    let chunks = 0
    proxy.inject(
      { kind: 'answer', status: 403 },
      { match: (request) => isChunk(request) && ++chunks > 3, times: Infinity },
    )
    expect((await client.run('upload', 'film.bin', ...CHUNKS)).code).toBe(1)
    proxy.heal()
    expect(stateFiles(client)).toHaveLength(1)
    const other = randomBytes(8 * MIB)
    write(client, 'film.bin', other)
    const { code, output } = await client.run('upload', 'film.bin', ...CHUNKS)
    expect(code).toBe(0)
    await expectStored(account, output, other)
    expect(await unfinishedUploads(account)).toBe(0)
  })

  test('is not answered with the link of what it was, small or done before', async () => {
    const { client } = await sender(0)
    using _ = client
    const before = { small: randomBytes(1000), done: randomBytes(2000) }
    const now = { small: randomBytes(1000), done: randomBytes(2000) }
    for (const [name, bytes] of Object.entries(before)) write(client, name, bytes)
    // The second is stored, and the client never hears of it.
    let asked = 0
    proxy.inject({ kind: 'lose-answer' }, { match: (request) => isWhole(request) && ++asked === 2 })
    proxy.inject({ kind: 'answer', status: 403 }, { match: (request) => isWhole(request) && asked >= 2 })
    const command = ['upload', '--each', '--parallel', '1', 'done', 'small'] as const
    expect((await client.run(...command)).code).toBe(1)
    proxy.heal()
    for (const [name, bytes] of Object.entries(now)) write(client, name, bytes)
    const { code, output } = await client.run(...command)
    expect(code).toBe(0)
    const links = lines(output)
    expect(await contentAt(links[0] ?? '')).toEqual(Buffer.from(now.done))
    expect(await contentAt(links[1] ?? '')).toEqual(Buffer.from(now.small))
  })
})

/** Other bytes in the same file, from its beginning. */
function overwrite(path: string, bytes: Uint8Array): void {
  const file = openSync(path, existsSync(path) ? 'r+' : 'w')
  writeSync(file, bytes)
  closeSync(file)
}

describe('a proxy that refuses large requests', () => {
  test('gets smaller ones, and the person is told', async () => {
    const port = await freePort()
    const nginx = await startBalancer(port, [Number(new URL(host.url).port)], { largestBody: '2m' })
    const { client, account, bytes } = await sender(9 * MIB, `http://127.0.0.1:${port}`)
    using _ = client
    try {
      const { code, output, errors } = await client.run('upload', 'film.bin')
      expect(code).toBe(0)
      expect(errors).toContain('413')
      await expectStored(account, output, bytes)
    } finally {
      await nginx.stop()
    }
  })

  test('even of a mebibyte is named as what has to be changed', async () => {
    const port = await freePort()
    const nginx = await startBalancer(port, [Number(new URL(host.url).port)], { largestBody: '100k' })
    const { client } = await sender(2 * MIB, `http://127.0.0.1:${port}`)
    using _ = client
    try {
      const { code, errors } = await client.run('upload', 'film.bin')
      expect(code).toBe(1)
      expect(errors).toContain('client_max_body_size')
    } finally {
      await nginx.stop()
    }
  })
})

test('a server that has no room is not taken for such a proxy', async () => {
  const small = await startHoldfast({ ...GENEROUS, storageLimit: 5 * MIB })
  try {
    const { apiKey } = await small.addAccount()
    using client = newClient()
    await client.login(small.url, apiKey)
    writeFileSync(join(client.folder, 'film.bin'), randomBytes(6 * MIB))
    const { code, errors } = await client.run('upload', 'film.bin')
    expect(code).toBe(1)
    expect(errors).toContain('does not fit')
    expect(errors).not.toContain('proxy')
  } finally {
    await small.stop()
  }
})

test('a rate that is used up is waited for as the server says, and the person is told', async () => {
  const strict = await startHoldfast({ ...GENEROUS, rateLimit: 3 })
  try {
    const { apiKey } = await strict.addAccount()
    using client = newClient()
    await client.login(strict.url, apiKey)
    for (const name of ['1', '2', '3', '4']) writeFileSync(join(client.folder, name), name)
    const started = client.start('upload', '--each', '1', '2', '3', '4')
    strict.clock.advance(3600 * 1000 - 2500)
    const { code, output, errors } = await started.outcome
    expect(code).toBe(0)
    expect(lines(output)).toHaveLength(4)
    expect(errors).toMatch(/waiting \d s/)
  } finally {
    await strict.stop()
  }
})
