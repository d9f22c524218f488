import { z } from '@hono/zod-openapi'
import { adminRoute } from '../../route.ts'
import { dataOf, queryNumber } from '../fields.ts'
import { sizeField } from './fields.ts'

const count = z.number().int()
const sampled = z.number().int().nullable()

const statistics = z
  .object({
    now: z.object({
      accounts: count,
      files: count,
      storage_used: sizeField,
      storage_reserved: sizeField.openapi({ description: 'Set aside for uploads under way' }),
      storage_in_bins: sizeField,
      guests: z.object({ files: count, storage_used: sizeField }),
      disk_free: sizeField.nullable(),
      reports_open: count,
    }),
    days: z.array(
      z.object({
        day: z.iso.date().openapi({ example: '2026-01-31', description: 'In UTC' }),
        requests: count,
        bytes_in: sizeField,
        bytes_out: sizeField,
        uploads: count,
        downloads: count,
        accounts: sampled.openapi({ description: 'These three as they were last looked at on that day' }),
        files: sampled,
        storage_used: sampled,
      }),
    ),
  })
  .openapi('Statistics')

const DAYS = 30

export const getStatistics = adminRoute({
  method: 'get',
  path: '/api/v1/admin/statistics',
  summary: 'What the server holds, and what it did day by day, the oldest first',
  query: z.object({ days: queryNumber(1, 366).optional() }),
  answer: dataOf(statistics),
  errors: [400],
  async handle({ call, query }) {
    const { now, days } = await call.site.services.statistics.read(query.days ?? DAYS)
    const { diskFree, reportsOpen, ...totals } = now
    const data: z.infer<typeof statistics> = {
      now: { ...totals, disk_free: diskFree, reports_open: reportsOpen },
      days: [...days],
    }
    return { success: true, data }
  },
})
