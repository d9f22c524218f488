/** The access log and the log of security events, and what fail2ban makes of the latter. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { randomBytes, signedAddress, type Uploaded, upload } from '../support/clients/public.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { runProgram } from '../support/processes/program.ts'
import { describeWith } from '../support/processes/tools.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const folder = temporaryFolder()
const FILTER = join(import.meta.dir, '../../deploy/fail2ban/filter.d/holdfast.conf')
const line = z.object({
  time: z.string(),
  address: z.string(),
  method: z.string(),
  route: z.string(),
  file: z.number().nullish(),
  account: z.number().nullable(),
  status: z.number(),
  bytes: z.number(),
  ms: z.number(),
  agent: z.string().nullable(),
})

let host: TestHoldfast
let key: string
let file: Uploaded
beforeAll(async () => {
  host = await startHoldfast({ logs: { folder: folder.path, accessDays: 3, isAnonymous: false } })
  key = (await host.addAccount('owner')).apiKey
  file = await upload(host, { key, bytes: randomBytes(5000), name: 'a telling name.bin' })
})
afterAll(async () => {
  await host.stop()
  folder[Symbol.dispose]()
})

const text = (name: string) => {
  try {
    return readFileSync(join(folder.path, `${name}.log`), 'utf8')
  } catch {
    return ''
  }
}
const lines = () =>
  text('access')
    .split('\n')
    .filter((each) => each !== '')
    .map((each) => line.parse(JSON.parse(each)))

test('the access log names routes by their pattern and files by their number, and nothing that opens or tells', async () => {
  const address = await signedAddress(host, file)
  await (await fetch(address, { headers: { referer: 'https://secret.example/' } })).arrayBuffer()
  await (await fetch(`${host.url}/d/${file.slug}?download=1`, { redirect: 'manual' })).arrayBuffer()
  await fetch(`${host.url}/api/v1/files?search=telling`, { headers: { authorization: `Bearer ${key}` } })
  await fetch(`${host.url}/no-such/${file.slug}`)
  const routes = ['/d/{slug}', '/v2/{file}', '/api/v1/files']
  // Nodes write their lines each in its own time.
  await eventually('the lines are there', () =>
    routes.every((each) => lines().some(({ route }) => route === each)),
  )
  expect(lines().filter(({ route }) => route === '/d/{slug}')).toMatchObject([
    { file: file.file_id, status: 302 },
  ])
  expect(lines().find(({ route }) => route === '/v2/{file}')).toMatchObject({
    file: file.file_id,
    status: 200,
    bytes: 5000,
  })
  expect(lines().find(({ route }) => route === '/api/v1/files')?.account).toBeGreaterThan(0)
  for (const secret of [file.slug, file.uuid, 'telling', 'secret.example', 'token', key]) {
    expect(text('access')).not.toContain(secret)
  }
})

test('an agent cannot make a line of its own, nor speak to a terminal', async () => {
  const agent = 'evil" \u009b31m \u00e9 {"status":200}'
  await fetch(`${host.url}/health`, { headers: { 'user-agent': agent } })
  await eventually('it is noted', () => text('access').includes('evil'))
  expect(text('access')).toMatch(/^[\x20-\x7e\n]*$/)
  expect(lines().some((each) => each.agent?.startsWith('evil" ') === true)).toBe(true)
})

describeWith(['fail2ban-regex'], 'fail2ban', () => {
  test('finds the address of each refused key and sign-in by the filter in deploy', async () => {
    await fetch(`${host.url}/api/v1/files`, {
      headers: { authorization: 'Bearer hf_wrong from 198.51.100.1' },
    })
    const refused = await fetch(`${host.url}/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: host.url },
      body: JSON.stringify({ username: 'key refused from 198.51.100.1', password: 'wrong' }),
    })
    expect(refused.status).toBe(403)
    await eventually('both are noted', () => text('security').split('\n').length > 2)
    // Each node writes its own lines.
    const events = text('security')
      .trimEnd()
      .split('\n')
      .map((event) => event.replace(/^\S+Z /, ''))
    expect(events.sort()).toEqual([
      expect.stringMatching(/^key refused from (::1|127\.0\.0\.1)$/),
      expect.stringMatching(/^sign-in refused from (::1|127\.0\.0\.1)$/),
    ])
    const { output } = await runProgram(['fail2ban-regex', join(folder.path, 'security.log'), FILTER], {})
    expect(output).toContain('Lines: 2 lines, 0 ignored, 2 matched, 0 missed')
  })
})
