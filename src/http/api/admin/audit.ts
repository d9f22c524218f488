import { z } from '@hono/zod-openapi'
import { ACTS } from '../../../domain/audit.ts'
import { timestamp } from '../../../domain/clock.ts'
import type { KeptDeed } from '../../../services/audit.ts'
import { adminRoute } from '../../route.ts'
import { timestampField } from '../fields.ts'
import { listOf, owner, pageOf, pageQuery, toList } from './fields.ts'

const deed = z
  .object({
    id: z.number().int(),
    at: timestampField,
    account: owner.nullable().openapi({ description: 'null: somebody at the command line' }),
    address: z.string().nullable().openapi({ example: '203.0.113.7' }),
    act: z.enum(ACTS),
    object: z.string().nullable().openapi({ example: 'ada' }),
    details: z.record(z.string(), z.unknown()).openapi({
      example: { quota: 10_737_418_240, before: null },
    }),
  })
  .openapi('Deed')

function toDeed({ id, at, account_id, username, address, act, object, details }: KeptDeed) {
  return {
    id,
    at: timestamp(at),
    account: account_id === null ? null : { id: account_id, username: username ?? '' },
    address,
    act,
    object,
    details: JSON.parse(details),
  }
}

export const listAudit = adminRoute({
  method: 'get',
  path: '/api/v1/admin/audit',
  summary: 'Read what administrators did, the latest first; nobody can change it',
  query: z.object({ ...pageQuery, act: z.enum(ACTS).optional() }),
  answer: listOf(deed),
  errors: [400],
  async handle({ call, query }) {
    const page = pageOf(query)
    const { deeds, total } = await call.site.services.auditLog.list(
      query.act ?? null,
      page.page,
      page.perPage,
    )
    return toList(page, deeds.map(toDeed), total)
  },
})
