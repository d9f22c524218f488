/** Backups and rehearsals that nodes on PostgreSQL and a bucket make by themselves, in another bucket, by settings alone. */
// Only in test:all: PostgreSQL and a store; own-backups.test.ts has the rest in the whole run.

import { expect, test } from 'bun:test'
import { startHoldfast } from '../../../../src/app.ts'
import { openS3Blobs } from '../../../../src/blobs/s3.ts'
import { loadConfig, settingsInForce } from '../../../../src/config.ts'
import { CatalogReader } from '../../../../src/contents/backup-catalog.ts'
import { HOUR, systemClock } from '../../../../src/domain/clock.ts'
import type { AccountId } from '../../../../src/domain/ids.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { createLog } from '../../../../src/log.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { onSharedServers, sharedInstallation } from '../../../support/servers/shared-installation.ts'
import { startMailServer } from '../../../support/sign-in/mail-server.ts'
import { verifyAddress } from '../../../support/sign-in/verified-address.ts'
import { newBucket } from '../../../support/storage/ceph.ts'

const ADDRESS = 'root@example.org'

onSharedServers('backups that nodes make by themselves', () => {
  test('go from PostgreSQL and a bucket to a bucket, one at a time, are dropped by the rules, and rehearsed', async () => {
    await using open = new AsyncDisposableStack()
    const source = open.use(await sharedInstallation())
    const mails = open.use(await startMailServer())
    const scratch = open.use(temporaryFolder())
    const bucket = await newBucket(undefined)
    const { id } = await source.addAccount('root')
    const variables = Object.entries({
      ...source.settings,
      PUBLIC_URL: 'http://files.example.org',
      BACKUP: `${bucket.endpoint}/${bucket.bucket}`,
      BACKUP_S3_ACCESS_KEY_ID: bucket.accessKeyId,
      BACKUP_S3_SECRET_ACCESS_KEY: bucket.secretAccessKey,
      BACKUP_S3_REGION: bucket.region,
      BACKUP_S3_PATH_STYLE: 'true',
      BACKUP_KEEP_DAILY: '1',
      BACKUP_KEEP_WEEKLY: '0',
      BACKUP_RATE: '1GB',
      DRILL_FOLDER: scratch.path,
    }).map(([name, value]) => [`HOLDFAST_${name}`, value])
    const config = {
      ...loadConfig(Object.fromEntries(variables)),
      dataDir: source.dataDir,
      port: 0,
      mail: mails.config,
    }
    let ahead = 0
    const clock = { ...systemClock, now: () => systemClock.now() + ahead }
    const log = createLog('silent', { terminal: false })
    const startNode = async () => {
      const parts = { config, clock, random: systemRandom, settings: settingsInForce({}), log }
      return open.adopt(await startHoldfast(parts), (node) => node.stop())
    }
    const nodes = [await startNode(), await startNode()]
    await source.database
      .updateTable('accounts')
      .set({ is_admin: 1 })
      .where('id', '=', id as AccountId)
      .execute()
    await verifyAddress(source.database, id, ADDRESS)
    const [first] = nodes
    for (const name of ['one.txt', 'two.txt']) {
      const answer = await fetch(`${first?.url}/${name}`, { method: 'PUT', body: `what ${name} has` })
      expect(answer.status).toBe(200)
    }

    const store = await openS3Blobs(bucket, systemRandom)
    const points = async () => (await new CatalogReader(store, null).read())?.catalog.points ?? []
    await Promise.all(nodes.map((node) => node.runJobs()))
    const [made, ...more] = await points()
    expect(more).toEqual([])
    expect(made).toMatchObject({ files: 2, contents: 2, damaged: 0 })
    // Whichever node has rehearsed it, and whichever sends the mail.
    for (const node of nodes) await node.runJobs()
    expect(mails.received.map(({ to, subject }) => ({ to, subject }))).toEqual([
      { to: ADDRESS, subject: 'The backup can be restored' },
    ])
    ahead = 25 * HOUR
    await Promise.all(nodes.map((node) => node.runJobs()))
    const [second, ...others] = await points()
    expect(others).toEqual([])
    expect(second?.takenAt).toBeGreaterThan(made?.takenAt ?? 0)
    expect(second).toMatchObject({ files: 2, contents: 2 })
  }, 120_000)
})
