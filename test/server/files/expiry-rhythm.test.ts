import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { DAY } from '../../../src/domain/clock.ts'
import { upload, visit } from '../../support/clients/public.ts'
import { eventually } from '../../support/eventually.ts'
import { account, withOwner } from '../../support/servers/expiry.ts'

const A_MINUTE = 60

test('a file that nobody has used for too long is gone within a minute, and nobody has to ask for it', async () => {
  await withOwner({}, async (host, key) => {
    const [old, other] = [await upload(host, { key }), await upload(host, { key })]
    const time = host.clock.now() - 45 * DAY
    await sql`update files set last_used_at = ${time} where id = ${old.file_id}`.execute(host.database)
    await sql`update accounts set unused_since = 0`.execute(host.database)
    const isGone = async () => (await account(host, key)).files_count === 1
    await eventually('it is gone from every count', isGone, A_MINUTE)
    expect((await visit(host, `/d/${old.slug}`)).status).toBe(404)
    expect((await visit(host, `/d/${other.slug}`)).status).toBe(200)
  })
})
