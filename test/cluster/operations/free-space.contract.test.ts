/** The floor of the disk under the data folder, where the bytes of files lie in S3 and the database alone is there. */
import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startHoldfast } from '../../../src/app.ts'
import { loadConfig, settingsInForce } from '../../../src/config.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createLog } from '../../../src/log.ts'
import { newBucket, whyNoCeph } from '../../support/storage/ceph.ts'

const reason = whyNoCeph()
if (reason !== null) console.error(`Not run: the floor of a disk beside a store. ${reason}`)

test.skipIf(reason === null || process.env.CI !== 'true')('an S3 store for these tests is there', () => {
  expect(reason).toBeNull()
})

describe.skipIf(reason !== null)('with SQLite and S3', () => {
  test.each([
    ['no upload is taken below the floor', Number.MAX_SAFE_INTEGER, 503],
    ['uploads are taken above it', 0, 200],
  ])('%s', async (_, minFreeSpace, status) => {
    await using open = new AsyncDisposableStack()
    const dataDir = open.adopt(await mkdtemp(join(tmpdir(), 'holdfast-test-')), (path) =>
      rm(path, { recursive: true, force: true }),
    )
    const s3 = await newBucket()
    const host = open.adopt(
      await startHoldfast({
        config: { ...loadConfig({}), port: 0, dataDir, s3, minFreeSpace },
        clock: systemClock,
        random: systemRandom,
        settings: settingsInForce({}),
        log: createLog('silent', { terminal: false }),
      }),
      (it) => it.stop(),
    )
    const form = new FormData()
    form.append('file', new File(['content'], 'fox.txt'))
    const sent = await fetch(`${host.url}/api/v1/upload`, { method: 'POST', body: form })
    expect(sent.status).toBe(status)
    const begun = await fetch(`${host.url}/api/v1/uploads`, {
      method: 'POST',
      headers: { 'tus-resumable': '1.0.0', 'upload-length': '5' },
    })
    expect(begun.status).toBe(status === 200 ? 201 : status)
  })
})
