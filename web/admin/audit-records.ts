import * as z from 'zod/mini'
import { auditAnswer, auditRecord } from '../../src/contract/administration.ts'

/** An entry of the audit log, with details that can be shown. */
const shownAuditRecord = z.extend(auditRecord, {
  details: z.record(z.string(), z.nullable(z.union([z.string(), z.number(), z.boolean()]))),
})
export type ShownAuditRecord = z.infer<typeof shownAuditRecord>

export const auditRecordsAnswer = z.extend(auditAnswer, { data: z.array(shownAuditRecord) })
