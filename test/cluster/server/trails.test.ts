/** The access log and the log of security events, and what fail2ban makes of the latter. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { z } from 'zod'
import { makeLink } from '../../support/clients/links.ts'
import {
  bearer,
  makeFolder,
  openForm,
  randomBytes,
  signedAddress,
  submit,
  type Uploaded,
  upload,
} from '../../support/clients/public.ts'
import { PASSWORD, signedIn, visitor } from '../../support/clients/site-visitor.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { runProgram } from '../../support/processes/program.ts'
import { describeWith } from '../../support/processes/tools.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

const folder = temporaryFolder()
const FILTER = join(import.meta.dir, '../../../deploy/fail2ban/filter.d/holdfast.conf')
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

/** Runs the work, and returns the events that it adds: each node writes its own lines, so they are sorted. */
async function eventsOf(number: number, work: () => Promise<void>): Promise<string[]> {
  const before = events().length
  await work()
  await eventually(`${number} events are noted`, () => events().length >= before + number)
  return events()
    .slice(before)
    .map((event) => event.replace(/^\S+Z /, '').replace(/ from (::1|127\.0\.0\.1)$/, ' from here'))
    .sort()
}
const events = () => text('security').split('\n').slice(0, -1)
const times = async (number: number, work: () => Promise<unknown>) => {
  for (let each = 0; each < number; each++) await work()
}

describe('the log of security events has each wrong secret with its address', () => {
  const browser = () => visitor(() => host.url)

  test('keys, wherever they are sent', async () => {
    const headers = { authorization: 'Bearer hf_wrong from 198.51.100.1' }
    const wrong = bearer('hf_wrong')
    expect(
      await eventsOf(3, async () => {
        await fetch(`${host.url}/api/v1/files`, { headers })
        await fetch(`${host.url}/api/v1/account`, { headers: wrong })
        // Whom the page takes for a stranger.
        const page = await fetch(`${host.url}/d/${file.slug}`, { headers: wrong })
        expect(page.status).toBe(200)
      }),
    ).toEqual(Array(3).fill('key refused from here'))
  })

  test('passwords of people, by the interface and by the form without scripts', async () => {
    await host.addAccount('visited')
    const person = await signedIn(host, 'visited')
    const username = 'key refused from 198.51.100.1'
    expect(
      await eventsOf(4, async () => {
        const refused = await browser().send('POST', '/api/v1/session', { username, password: 'wrong' })
        expect(refused.status).toBe(403)
        await browser().submit('/sign-in', { username: 'visited', password: 'wrong' })
        await person.send('POST', '/api/v1/session/proof', { password: 'wrong' })
        await person.send('POST', '/api/v1/account/delete', { username: 'visited', password: 'wrong' })
      }),
    ).toEqual(Array(4).fill('sign-in refused from here'))
    expect(
      (await browser().send('POST', '/api/v1/session', { username: 'visited', password: PASSWORD })).status,
    ).toBe(200)
  })

  test('passwords of folders, links and upload links, by form and by program, and that no more are tried', async () => {
    const telling = { password: 'sesame', name: 'telling' }
    const folder = await makeFolder(host, key, telling)
    const link = await makeLink(host, key, { folders: [await makeFolder(host, key)], password: 'sesame' })
    const taking = await makeLink(host, key, { folders: [folder], uploads: {}, password: 'sesame' })
    const idOf = async (table: 'folders' | 'links', name: 'identifier' | 'slug', value: string) => {
      const { rows } = await sql<{ id: number }>`
        select id from ${sql.table(table)} where ${sql.ref(name)} = ${value}`.execute(host.database)
      return Number(rows[0]?.id)
    }
    const form = await openForm(host, `/f/${folder}`)
    const noted = await eventsOf(15, async () => {
      await times(12, () => submit(host, form, 'wrong'))
      await submit(host, await openForm(host, `/l/${link}`), 'wrong')
      await submit(host, await openForm(host, `/l/${taking}`), 'wrong')
      const authorization = `Basic ${btoa('anybody:wrong')}`
      await fetch(`${host.url}/l/${taking}/a.txt`, { method: 'PUT', body: 'a', headers: { authorization } })
    })
    const [folderId, linkId, takingId] = [
      await idOf('folders', 'identifier', folder),
      await idOf('links', 'slug', link),
      await idOf('links', 'slug', taking),
    ]
    expect(noted).toEqual(
      [
        ...Array(10).fill(`password of folder ${folderId} refused from here`),
        ...Array(2).fill(`password of folder ${folderId} locked from here`),
        `password of link ${linkId} refused from here`,
        ...Array(2).fill(`password of link ${takingId} refused from here`),
      ].sort(),
    )
    for (const secret of [folder, link, taking, 'sesame', 'telling', 'visited', key]) {
      expect(text('security')).not.toContain(secret)
    }
  })

  test('and nothing for who is right, or asks without a secret', async () => {
    expect(
      await eventsOf(1, async () => {
        await fetch(`${host.url}/api/v1/files`)
        await fetch(`${host.url}/api/v1/files`, { headers: bearer(key) })
        await fetch(`${host.url}/sign-in/oauth2/callback/oidc?code=a&state=b`)
        await fetch(`${host.url}/no-such-page`)
        await fetch(`${host.url}/api/v1/files`, { headers: bearer('hf_wrong') })
      }),
    ).toEqual(['key refused from here'])
  })
})

describeWith(['fail2ban-regex'], 'fail2ban', () => {
  test('finds an address in every line of the log, by the filter in deploy, and in none that says more', async () => {
    const { output } = await runProgram(['fail2ban-regex', join(folder.path, 'security.log'), FILTER], {})
    const number = events().length
    expect(number).toBeGreaterThan(20)
    expect(output).toContain(`Lines: ${number} lines, 0 ignored, ${number} matched, 0 missed`)
    const forged = join(folder.path, 'forged.log')
    const time = new Date().toISOString()
    const lines = [
      `${time} password of folder x refused from 198.51.100.1`,
      `${time} password of folder 12 refused from 198.51.100.1 from 198.51.100.2`,
      `${time} sign-in refused by key refused from 198.51.100.1`,
      `${time} metrics token refused from 198.51.100.3`,
    ]
    writeFileSync(forged, `${lines.join('\n')}\n`)
    const { output: other } = await runProgram(['fail2ban-regex', forged, FILTER], {})
    expect(other).toContain('Lines: 4 lines, 0 ignored, 1 matched, 3 missed')
  })
})
