import { z } from '@hono/zod-openapi'
import type { Slug } from '../../domain/ids.ts'
import { MAX_REPORT_TEXT, parseReportText, REPORT_REASONS } from '../../domain/report.ts'
import { unlocked } from '../../services/access.ts'
import { TEXT_BODY } from '../body.ts'
import { askerOf } from '../call.ts'
import { openRoute } from '../route.ts'

export const reportFile = openRoute({
  method: 'post',
  path: '/api/v1/file/report',
  summary: 'Tell the administrators what is wrong with a file that you may see',
  bodyLimit: TEXT_BODY,
  tag: 'Public',
  body: z.object({
    // Not just any identifier: by number somebody could find out which files there are.
    slug: z.string('must be the slug of the file'),
    reason: z.enum(REPORT_REASONS, `must be one of ${REPORT_REASONS.join(', ')}`),
    text: z
      .string('must be text')
      .nullish()
      .openapi({ maxLength: MAX_REPORT_TEXT, description: 'What the administrators should know besides' }),
  }),
  answer: z.object({ success: z.literal(true), message: z.string() }),
  errors: [400, 403, 404, 413, 429],
  async handle({ call, body }) {
    const { access, reporting } = call.site.services
    const { bucket } = call
    const asker = await askerOf(call)
    const file = unlocked(await access.file(asker, { kind: 'slug', slug: body.slug as Slug }))
    await reporting.report(file, { reason: body.reason, text: parseReportText(body.text) }, bucket)
    return { success: true, message: 'Thank you; the administrators of this server will see your report' }
  },
})
