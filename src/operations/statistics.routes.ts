import { z } from '@hono/zod-openapi'
import { type Statistics, statisticsAnswer } from '../contract/operations.ts'
import { timestamp } from '../domain/clock.ts'
import { versionWithCommit } from '../program/version.ts'
import { adminEndpoint } from '../server/endpoint.ts'
import { queryNumber } from '../server/requests/fields.ts'
import type { OperationsPart } from './operations.part.ts'

const DAYS = 30

export const getStatisticsEndpoint = adminEndpoint({
  summary: 'Get statistics',
  description: 'What the server holds, and what it did day by day, oldest first.',
  query: z.object({ days: queryNumber(1, 366).optional() }),
  answer: statisticsAnswer,
  errors: [400],
  async handle({ query }, { operations }: { operations: OperationsPart }) {
    const { now, days, outages } = await operations.statistics.read(query.days ?? DAYS)
    const { diskFree, reportsOpen, contentsDamaged, unknownProxies, ...totals } = now
    const data: Statistics = {
      version: versionWithCommit(),
      now: {
        ...totals,
        disk_free: diskFree,
        reports_open: reportsOpen,
        contents_damaged: contentsDamaged,
        unknown_proxies: unknownProxies.map(({ peer, header }) => ({ peer, header })),
      },
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
