import { z } from '@hono/zod-openapi'
import { type AuditRecord, auditAnswer } from '../contract/administration.ts'
import type { AuditEntry } from '../core/audit-log.ts'
import { ACTS } from '../domain/audit.ts'
import { timestamp } from '../domain/clock.ts'
import { adminEndpoint } from '../server/endpoint.ts'
import { pageFields, pageQuery, toList } from '../server/requests/list-pages.ts'
import type { OperationsPart } from './operations.part.ts'

function toAuditRecord({
  id,
  at,
  account_id,
  username,
  address,
  act,
  object,
  details,
}: AuditEntry): AuditRecord {
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

export const listAuditEndpoint = adminEndpoint({
  summary: 'List the audit log',
  description: 'Latest first. Nobody can change it.',
  query: z.object({ ...pageQuery, act: z.enum(ACTS).optional() }),
  answer: auditAnswer,
  errors: [400],
  async handle({ query }, { operations }: { operations: OperationsPart }) {
    const page = pageFields(query)
    const { entries, total } = await operations.auditLog.list(query.act ?? null, page.page, page.perPage)
    return toList(page, entries.map(toAuditRecord), total)
  },
})
