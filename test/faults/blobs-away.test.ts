/** The folder of the bytes goes while the server runs: a disk that was unmounted has lost nothing. */
// Only in test:all: each way for each route; cleaning.test.ts has a store that is away.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  GENEROUS,
  makeFolder,
  randomBytes,
  signedAddress,
  type Uploaded,
  upload,
} from '../support/clients/public.ts'
import { eventually } from '../support/eventually.ts'
import { onCluster, startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

let host: TestHoldfast
let key: string
let folder: string
let files: Uploaded[]

const blobs = () => join(host.dataDir, 'blobs')
const away = () => join(host.dataDir, 'blobs-away')

/** How the folder goes. */
const WAYS: readonly [string, () => void][] = [
  ['is gone', () => {}],
  ['is empty', () => mkdirSync(blobs())],
  [
    'belongs to nobody',
    () => {
      for (const name of ['tmp', 'resumable']) mkdirSync(join(blobs(), name), { recursive: true })
    },
  ],
]

describe.skipIf(onCluster)('while the folder of the bytes', () => {
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
    key = (await host.addAccount('owner')).apiKey
    folder = await makeFolder(host, key, { name: 'zipped' })
    files = []
    for (const size of [100, 5000, 2_000_000])
      files.push(await upload(host, { key, bytes: randomBytes(size), folder }))
  })
  afterAll(() => host.stop())

  const damages = async () =>
    (await host.database.selectFrom('blobs').select('id').where('damaged_key', 'is not', null).execute())
      .length

  describe.each(WAYS)('%s', (_, replace) => {
    beforeEach(() => {
      renameSync(blobs(), away())
      replace()
    })
    afterEach(() => {
      rmSync(blobs(), { recursive: true, force: true })
      renameSync(away(), blobs())
    })

    test('every read is 503 STORAGE_UNAVAILABLE, /ready says so, nothing is marked, and all is back with it', async () => {
      // Files stay open for a second after they were read.
      await Bun.sleep(1100)
      const addresses = await Promise.all(files.map((file) => signedAddress(host, file)))
      for (const address of addresses) {
        for (const headers of [new Headers(), new Headers({ range: 'bytes=10-19' })]) {
          const response = await fetch(address, { headers })
          expect(response.status).toBe(503)
          expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
          expect(await response.json()).toMatchObject({ error: 'STORAGE_UNAVAILABLE' })
        }
      }
      const form = new FormData()
      form.set('file', new File(['some text'], 'refused.txt'))
      const refused = await fetch(`${host.url}/api/v1/upload`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: form,
      })
      expect(refused.status).toBe(503)
      expect(await refused.json()).toMatchObject({ error: 'STORAGE_UNAVAILABLE' })
      const ready = await fetch(`${host.url}/ready`)
      expect(ready.status).toBe(503)
      expect(await ready.json()).toMatchObject({ database: 'ok', store: 'down' })
      expect((await fetch(`${host.url}/d/${files[0]?.slug}`)).status).toBe(200)
      await host.runJobs().catch(() => {})
      expect(await damages()).toBe(0)

      rmSync(blobs(), { recursive: true, force: true })
      renameSync(away(), blobs())
      await eventually('it is ready', async () => (await fetch(`${host.url}/ready`)).ok)
      for (const address of addresses) expect((await fetch(address)).status).toBe(200)
      renameSync(blobs(), away())
    })
  })
})
