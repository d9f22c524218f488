/** What is counted of the bytes that come and go, whatever a request claims of itself. */
import { beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { api } from '../../support/clients/api.ts'
import { openRaw } from '../../support/network/raw-connection.ts'
import { onCluster, startHoldfast } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'
import { administrator, type TestAdministrator } from '../../support/sign-in/administrator.ts'

let admin: TestAdministrator
const host = await hostOfFile()
beforeAll(async () => {
  admin = await administrator(host)
}, 120_000)

const statistics = z.object({ days: z.array(z.object({ bytes_in: z.number() })) })

async function bytesIn(): Promise<number> {
  await host.settle()
  const { days } = await admin.read('/statistics?days=2', statistics)
  return days.reduce((sum, day) => sum + day.bytes_in, 0)
}

test.each([
  ['GET', '/d/nothing', '9007199254740991'],
  ['GET', '/api/v1/files', '1048576'],
  ['POST', '/nothing', '9007199254740991'],
  ['POST', '/nothing', '1048576'],
  ['POST', '/health', '1048576'],
  ['PATCH', '/api/v1/file/nothing', '1048576'],
  ['POST', '/v2/api/public/view', '9007199254740991'],
])(
  'the length that a %s of %s claims is not counted before it has come: %s bytes',
  async (method, path, length) => {
    const before = await bytesIn()
    // A balancer would read it all before it sends any of it on.
    const connection = await openRaw(host.nodeUrl)
    const lines = [`Host: ${new URL(host.url).host}`, `Content-Length: ${length}`]
    await connection.send(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    expect((await connection.answer()).status).toBeGreaterThanOrEqual(400)
    connection.destroy()
    expect((await bytesIn()) - before).toBeLessThan(10_000)
  },
)

test('a body that was read is counted, also without a length', async () => {
  const before = await bytesIn()
  const answer = await fetch(`${host.url}/v2/api/public/view`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ file_slug: 'nothing', filling: 'x'.repeat(15_000) }),
  })
  expect(answer.status).toBe(404)
  expect((await bytesIn()) - before).toBeGreaterThanOrEqual(15_000)
})

test.skipIf(onCluster)(
  'what cannot be written when a server stops keeps nothing else from being written',
  async () => {
    const stopped = await startHoldfast()
    try {
      await api(stopped).put('content')
      await sql`drop table days`.execute(stopped.database)
      await expect(stopped.restart()).rejects.toThrow()
      const windows = await stopped.database.selectFrom('rate_windows').select('used').execute()
      expect(windows.length).toBeGreaterThan(0)
    } finally {
      await stopped.stop().catch(() => {})
    }
  },
)
