import { expect, test } from 'bun:test'
import { PROBE_HEADER } from '../../../../src/contract/health.ts'
import { createSigning } from '../../../../src/core/hmac.ts'
import { metaOf } from '../../../../src/core/meta.rows.ts'
import { createProbes } from '../../../../src/operations/doctor/raw-request.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

test('of a parameter that a probe gives twice, the first counts, as everywhere', async () => {
  const secret = await metaOf(holdfast.database, 'link_secret')
  const token = createProbes(createSigning(secret ?? ''), holdfast.clock).token()
  const status = async (query: string) => {
    const { status } = await fetch(`${holdfast.url}/api/v1/probe?${query}`, {
      headers: { [PROBE_HEADER]: token },
    })
    return status
  }
  expect(await status('silence=0&silence=never')).toBe(200)
  expect(await status('silence=never&silence=0')).toBe(400)
})
