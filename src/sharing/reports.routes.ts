import { z } from '@hono/zod-openapi'
import { doneWithMessage } from '../contract/fields.ts'
import { parseSlug } from '../domain/ids.ts'
import { MAX_REPORT_TEXT, parseReportText, REPORT_REASONS } from '../domain/report.ts'
import type { Authentication } from '../server/authentication.ts'
import { openEndpoint } from '../server/endpoint.ts'
import { unlocked } from './access.ts'
import type { SharingPart } from './sharing.part.ts'

export const reportFileEndpoint = openEndpoint({
  summary: 'Report a file',
  description: 'To the administrators; one that you may see.',
  tag: 'Public',
  body: z.object({
    // Only slugs: accepting ids would reveal which files exist.
    slug: z.string('must be the slug of the file'),
    reason: z.enum(REPORT_REASONS, `must be one of ${REPORT_REASONS.join(', ')}`),
    text: z
      .string('must be text')
      .nullish()
      .openapi({ maxLength: MAX_REPORT_TEXT, description: 'What the administrators should know besides' }),
  }),
  answer: doneWithMessage,
  errors: [400, 403, 404, 413, 429],
  async handle(
    { call, body },
    { authentication, sharing }: { authentication: Authentication; sharing: SharingPart },
  ) {
    const { bucket } = call
    const requester = authentication.requester(call)
    const file = unlocked(await sharing.access.file(requester, { kind: 'slug', slug: parseSlug(body.slug) }))
    await sharing.reporting.report(file, { reason: body.reason, text: parseReportText(body.text) }, bucket)
    return { success: true, message: 'Thank you; the administrators of this server will see your report' }
  },
})
