/** `holdfast doctor` beside a node on PostgreSQL and S3. */
// Only in test:all: nodes and proxies; the unit tests have its rules.
import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { examined } from '../../../support/operations/examined.ts'
import { onSharedServers, sharedInstallation } from '../../../support/servers/shared-installation.ts'

onSharedServers('holdfast doctor on PostgreSQL and S3', () => {
  test('looks at both, and names what they lack', async () => {
    await using installation = await sharedInstallation()
    await using node = await installation.startNode()
    const variables = Object.entries(installation.settings).map(([name, value]) => [
      `HOLDFAST_${name}`,
      value,
    ])
    const own = {
      ...Object.fromEntries(variables),
      HOLDFAST_DATA_DIR: installation.dataDir,
      HOLDFAST_PORT: new URL(node.url).port,
      HOLDFAST_PUBLIC_URL: node.url,
    }
    const findings = await examined(installation.dataDir, own)
    const level = (check: string) => findings.find((each) => each.check === check)?.level
    expect(level('public-address')).toBe('ok')
    expect(level('store')).toBe('ok')
    expect(level('database-clock')).toBe('ok')
    expect(level('store-checksums')).toBe('ok')
    expect(level('connections')).toBe('ok')
    // The tests' own PostgreSQL need not survive a power cut.
    const { rows } = await sql<{ fsync: string }>`select current_setting('fsync') as fsync`.execute(
      installation.database,
    )
    expect(level('postgresql')).toBe(rows[0]?.fsync === 'on' ? 'ok' : 'problem')
    const many = await examined(installation.dataDir, { ...own, HOLDFAST_DATABASE_CONNECTIONS: '1000' })
    expect(many.find((each) => each.check === 'connections')?.level).toBe('problem')
    const wrong = await examined(installation.dataDir, { ...own, HOLDFAST_S3_SECRET_ACCESS_KEY: 'wrong' })
    expect(wrong.find((each) => each.check === 'store')?.level).toBe('problem')
  })
})
