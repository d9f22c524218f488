import { z } from '@hono/zod-openapi'
import { done } from '../contract/fields.ts'
import { type BackgroundJob, jobsAnswer, nodesAnswer } from '../contract/operations.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import { adminEndpoint } from '../server/endpoint.ts'
import type { OperationsPart } from './operations.part.ts'

export const listJobsEndpoint = adminEndpoint({
  summary: 'List background jobs',
  description: 'With those that fail.',
  answer: jobsAnswer,
  async handle(_, { operations }: { operations: OperationsPart }) {
    const jobs = (await operations.backgroundJobs.list()).map(
      ({ name, state, node, endedAt, failures, failure, failedAt }): BackgroundJob => ({
        name,
        state,
        node,
        ended_at: optionalTime(endedAt),
        failures,
        failure,
        failed_at: optionalTime(failedAt),
      }),
    )
    return {
      success: true,
      data: { jobs, thumbnails_waiting: await operations.backgroundJobs.thumbnailsWaiting() },
    }
  },
})

export const retryJobEndpoint = adminEndpoint({
  summary: 'Retry a background job',
  description: 'One that was set aside.',
  body: z.object({
    job: z.string('must be the name of a job').max(100).openapi({ example: 'purge deleted files' }),
  }),
  answer: done,
  errors: [400, 404, 413],
  async handle({ caller, body }, { operations }: { operations: OperationsPart }) {
    await operations.backgroundJobs.retry(caller, body.job)
    return { success: true }
  },
})

export const listNodesEndpoint = adminEndpoint({
  summary: 'List nodes',
  description: 'The servers that share the database.',
  answer: nodesAnswer,
  async handle(_, { operations }: { operations: OperationsPart }) {
    const nodes = await operations.backgroundJobs.nodes()
    const data = nodes.map(({ id, started_at, host, address, version, isThis }) => ({
      id,
      started_at: timestamp(started_at),
      host,
      address,
      version,
      is_this: isThis,
    }))
    return { success: true, data }
  },
})
