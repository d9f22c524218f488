/** How often a request waits for PostgreSQL, where each wait is a round trip. */
import { expect, spyOn, test } from 'bun:test'
import { Client } from 'pg'
import { startHoldfast } from '../../../src/app.ts'
import { loadConfig, settingsInForce } from '../../../src/config.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createLog } from '../../../src/log.ts'
import { onSharedServers, sharedInstallation } from '../../support/servers/shared-installation.ts'

/** Timers of background jobs, which would be counted too: none ever comes. */
const NEVER = { monotonic: systemClock.monotonic, after: () => () => {} }

/** Counts the moments at which something begins to wait for PostgreSQL while nothing else does. */
function countWaits() {
  let waits = 0
  let statements = 0
  let underWay = 0
  const { query } = Client.prototype
  const counted = new Proxy(query, {
    apply(target, client, given) {
      statements++
      if (underWay++ === 0) waits++
      const answer: unknown = Reflect.apply(target, client, given)
      const ended = () => underWay--
      Promise.resolve(answer).then(ended, ended)
      return answer
    },
  })
  const spy = spyOn(Client.prototype, 'query').mockImplementation(counted)
  return {
    async of(work: () => Promise<unknown>) {
      waits = 0
      await work()
      return waits
    },
    async statementsOf(work: () => Promise<unknown>) {
      statements = 0
      await work()
      return statements
    },
    [Symbol.dispose]: () => spy.mockRestore(),
  }
}

onSharedServers('waits for the database', () => {
  test('are few for a small upload, with a key or by a guest, more for a resumable one, two for a detail, and bytes take one statement, or two', async () => {
    await using installation = await sharedInstallation()
    const variables = Object.entries(installation.settings).map(([name, value]) => [
      `HOLDFAST_${name}`,
      value,
    ])
    const config = { ...loadConfig(Object.fromEntries(variables)), dataDir: installation.dataDir, port: 0 }
    await using making = new AsyncDisposableStack()
    const parts = { config, settings: settingsInForce({}), clock: { ...systemClock, timers: NEVER } }
    const log = createLog('silent', { terminal: false })
    const node = making.adopt(await startHoldfast({ ...parts, random: systemRandom, log }), (it) => it.stop())
    const { apiKey } = await installation.addAccount('ann')
    const Authorization = `Bearer ${apiKey}`
    async function asked(
      path: string,
      options: RequestInit,
    ): Promise<{ slug: string; data: { identifier: string }; file: string; token: string }> {
      const answer = await fetch(new URL(path, node.url), options)
      expect(answer.ok).toBe(true)
      return JSON.parse(await answer.text())
    }
    const json = { Authorization, 'Content-Type': 'application/json' }
    const { data } = await asked('api/v1/folder', { method: 'POST', headers: json, body: '{"name":"a"}' })
    const upload = (headers: Record<string, string>) => {
      const body = new FormData()
      body.set('file', new File([crypto.getRandomValues(new Uint8Array(50_000))], 'file.bin'))
      return asked('api/v1/upload', { method: 'POST', headers, body })
    }
    const { slug } = await upload({ Authorization })
    // Once a minute it is noted who sends.
    await upload({})
    using waits = countWaits()
    expect(await waits.of(() => upload({ Authorization }))).toBeLessThanOrEqual(8)
    expect(
      await waits.of(() => upload({ Authorization, 'X-Folder-ID': data.identifier })),
    ).toBeLessThanOrEqual(9)
    expect(await waits.of(() => upload({}))).toBeLessThanOrEqual(9)
    const tus = { Authorization, 'Tus-Resumable': '1.0.0' }
    const begin = () =>
      fetch(new URL('api/v1/uploads', node.url), {
        method: 'POST',
        headers: { ...tus, 'Upload-Length': '10', 'Upload-Metadata': 'filename YQ==' },
      })
    const begun = await begin()
    const address = new URL(begun.headers.get('location') ?? '', node.url)
    expect(await waits.of(begin)).toBe(8)
    const append = { ...tus, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' }
    const body = '0123456789'
    expect(
      await waits.of(() => fetch(address, { method: 'PATCH', headers: append, body })),
    ).toBeLessThanOrEqual(15)
    // The key is noted before, and what it led to with the file.
    expect(await waits.of(() => upload({ Authorization, 'Idempotency-Key': 'a' }))).toBeLessThanOrEqual(9)
    expect(await waits.of(() => asked(`api/v1/file/${slug}`, { headers: { Authorization } }))).toBe(2)
    const file_slug = slug
    const sign = { method: 'POST', headers: json, body: JSON.stringify({ file_slug }) }
    const signed = await asked('v2/api/public/download', sign)
    const bytes = new URL(`v2/${signed.file}?token=${signed.token}`, node.url)
    const read = async (headers: Record<string, string>) => (await fetch(bytes, { headers })).arrayBuffer()
    // The key that asks is the one that signed. The file comes with its folders.
    expect(await waits.statementsOf(() => read({ Authorization }))).toBe(2)
    expect(await waits.statementsOf(() => read({}))).toBe(2)
    const shown = () => fetch(new URL(`d/${slug}?download=1`, node.url), { redirect: 'manual' })
    expect(await waits.statementsOf(shown)).toBe(1)
  })
})
