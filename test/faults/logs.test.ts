import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { caller, signedAddress } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import { openUpload } from '../support/network/raw-upload.ts'
import {
  addAccount,
  type ChildAccount,
  type ChildServer,
  logLines,
  startChild,
  temporaryFolder,
} from '../support/processes/child.ts'
import { unfinishedBlobs } from '../support/storage/blob-folder.ts'

const folder = temporaryFolder()
let server: ChildServer
let account: ChildAccount

beforeAll(async () => {
  const dataDir = join(folder.path, 'data')
  account = await addAccount(dataDir, 'logged')
  server = await startChild(dataDir)
})

afterAll(async () => {
  await server.stop()
  folder[Symbol.dispose]()
})

/** The lines of the request that was answered with this response; there must be one. */
async function linesOf(response: Response, from = server): Promise<Record<string, unknown>[]> {
  const id = response.headers.get('x-request-id')
  expect(id).toMatch(/^\S{8,}$/)
  const lines = () => logLines(from.output()).filter((line) => line.id === id)
  await eventually(`a line for request ${id}`, () => lines().length > 0)
  return lines()
}

const authorized = () => ({ authorization: `Bearer ${account.apiKey}` })

describe('every request has one line', () => {
  test('with what it asked, who asked, what came of it and how long it took', async () => {
    const response = await fetch(`${server.url}/api/v1/account`, { headers: authorized() })
    const length = (await response.arrayBuffer()).byteLength
    expect(await linesOf(response)).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        msg: 'request',
        id: response.headers.get('x-request-id'),
        method: 'GET',
        route: '/api/v1/account',
        status: 200,
        bytes: length,
        received: 0,
        ms: expect.any(Number),
        account: 'logged',
      },
    ])
  })

  test('which names the pattern of the route and not the file that was asked for', async () => {
    const { slug } = await caller(server.url, account.apiKey).upload(new Uint8Array(10), 'secret-plans.txt')
    const response = await fetch(`${server.url}/api/v1/file/${slug}`, { headers: authorized() })
    await response.text()
    expect(await linesOf(response)).toMatchObject([{ route: '/api/v1/file/{id}', status: 200 }])
    const page = await fetch(`${server.url}/d/${slug}`)
    await page.text()
    expect(await linesOf(page)).toMatchObject([{ route: '/d/{slug}', status: 200, account: 'guest' }])
    expect(server.output()).not.toContain('secret-plans')
  })

  test('when it is refused, is no route at all, or comes with a wrong key', async () => {
    const wrongKey = await fetch(`${server.url}/api/v1/account`, {
      headers: { authorization: 'Bearer hf_wrong' },
    })
    expect(await linesOf(wrongKey)).toMatchObject([{ status: 401, account: 'guest' }])
    const nowhere = await fetch(`${server.url}/no/such/place?with=query`)
    expect(await linesOf(nowhere)).toMatchObject([{ method: 'GET', status: 404, account: 'guest' }])
    const unknown = await fetch(`${server.url}/api/v1/file/999999`, { headers: authorized() })
    expect(await linesOf(unknown)).toMatchObject([{ status: 404, account: 'logged' }])
  })

  test('and no more when its sender leaves in the middle', async () => {
    const upload = await openUpload(server.url, { key: account.apiKey, name: 'left.bin', size: 5_000_000 })
    await upload.send(new Uint8Array(1_000_000))
    await eventually('the upload has begun', () => unfinishedBlobs(join(folder.path, 'data')).length === 1)
    const before = logLines(server.output()).length
    upload.abort()
    const since = () => logLines(server.output()).slice(before)
    await eventually('the request is logged', () => since().some(({ msg }) => msg === 'request'))
    expect(since()).toMatchObject([
      { level: 'info', msg: 'request', method: 'POST', route: '/api/v1/upload', status: 400 },
    ])
    // What came, not the length that was declared.
    const received = Number(since().find(({ msg }) => msg === 'request')?.received)
    expect(received).toBeGreaterThan(0)
    expect(received).toBeLessThan(1_001_000)
  })

  test('that counts the bytes of content as they went out', async () => {
    const size = 300_000
    const { slug } = await caller(server.url, account.apiKey).upload(new Uint8Array(size), 'content.bin')
    const response = await fetch(await signedAddress(server.url, slug))
    expect((await response.arrayBuffer()).byteLength).toBe(size)
    expect(await linesOf(response)).toMatchObject([{ method: 'GET', status: 200, bytes: size }])
  })
})

describe('no secret is logged', () => {
  test('no API key, right or wrong', async () => {
    const wrong = `hf_${'Q'.repeat(43)}`
    await caller(server.url, account.apiKey).upload(new Uint8Array(3), 'keyed.bin')
    for (const authorization of [`Bearer ${wrong}`, wrong, `Basic ${btoa(`user:${wrong}`)}`]) {
      await (await fetch(`${server.url}/api/v1/account`, { headers: { authorization } })).text()
    }
    const last = await fetch(`${server.url}/api/v1/account?api_key=${wrong}`)
    await linesOf(last)
    expect(server.output()).not.toContain(account.apiKey.slice(0, 20))
    expect(server.output()).not.toContain('QQQQQQQQ')
  })

  test('no folder password, right or wrong, however it is sent', async () => {
    const password = 'correct-horse-battery'
    const wrong = 'wrong-donkey-battery'
    const encoded = Buffer.from(`${password}|${Date.now()}|nonce`).toString('base64url')
    const owner = caller(server.url, account.apiKey)
    const created = await fetch(`${server.url}/api/v1/folder`, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'locked', password }),
    })
    expect(created.status).toBe(201)
    const identifier = (await owner.folders()).find(({ name }) => name === 'locked')?.id
    let last: Response | null = null
    for (const guess of [wrong, encoded, password]) {
      last = await fetch(`${server.url}/f/${identifier}`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ password: guess }),
      })
      await last.text()
    }
    if (last !== null) await linesOf(last)
    const cookie = /folder_access_token=([^;]+)/.exec(last?.headers.get('set-cookie') ?? '')?.[1]
    expect(cookie).toBeDefined()
    for (const secret of [password, wrong, encoded, cookie ?? ''])
      expect(server.output()).not.toContain(secret)
  })

  test('no link to make the first administrator, but by the start, while there is none', async () => {
    using own = temporaryFolder()
    const dataDir = join(own.path, 'data')
    const first = await startChild(dataDir)
    const [line, ...others] = logLines(first.output()).filter((line) =>
      JSON.stringify(line).includes('/welcome/'),
    )
    expect([line?.msg, others]).toEqual(['listening', []])
    const link = new URL(String(line?.first_administrator)).pathname
    await (await fetch(first.url + link)).text()
    const made = await fetch(`${first.url}/api/v1/account/first`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({
        username: 'root',
        password: 'violet kettle anchors drift',
        token: link.split('/').at(-1),
      }),
    })
    expect(made.status).toBe(200)
    await linesOf(made, first)
    expect(first.output().split(link).length - 1).toBe(1)
    await first.stop()
    await using again = await startChild(dataDir)
    expect(again.output()).not.toContain('/welcome/')
  })

  test('no token of a signed address', async () => {
    const { slug } = await caller(server.url, account.apiKey).upload(new Uint8Array(30), 'signed.bin')
    const address = await signedAddress(server.url, slug, 'view')
    const token = new URL(address).searchParams.get('token') ?? ''
    expect(token.length).toBeGreaterThan(20)
    const right = await fetch(address)
    await right.arrayBuffer()
    expect(right.status).toBe(200)
    const changed = await fetch(`${address}x`)
    expect(changed.status).toBe(403)
    await linesOf(right)
    await linesOf(changed)
    expect(server.output()).not.toContain(token.slice(0, 20))
    expect(server.output()).not.toContain('token=')
  })
})
