import { z } from '@hono/zod-openapi'
import { timestamp } from '../../../domain/clock.ts'
import { adminRoute } from '../../route.ts'
import { dataOf, queryNumber, timestampField } from '../fields.ts'
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
    outages: z
      .array(
        z.object({
          began_at: timestampField,
          ended_at: timestampField,
          cause: z.enum(['stopped', 'clock set ahead', 'clock set back']),
        }),
      )
      .openapi({
        description:
          'The last five times of over an hour in which the service did not run, the latest first. Every file is kept that much longer',
      }),
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
    const { now, days, outages } = await call.site.services.statistics.read(query.days ?? DAYS)
    const { diskFree, reportsOpen, ...totals } = now
    const data: z.infer<typeof statistics> = {
      now: { ...totals, disk_free: diskFree, reports_open: reportsOpen },
      days: [...days],
      outages: outages.map(({ began_at, ended_at, cause }) => ({
        began_at: timestamp(began_at),
        ended_at: timestamp(ended_at),
        cause,
      })),
    }
    return { success: true, data }
  },
})
