import * as z from 'zod/mini'
import { auditAnswer, deed } from '../../src/contract/administration.ts'

/** An entry of the audit log, with details that can be shown. */
const shownDeed = z.extend(deed, {
  details: z.record(z.string(), z.nullable(z.union([z.string(), z.number(), z.boolean()]))),
})
export type ShownDeed = z.infer<typeof shownDeed>

export const deedsAnswer = z.extend(auditAnswer, { data: z.array(shownDeed) })
