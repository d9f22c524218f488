import { z } from '@hono/zod-openapi'
import { timestamp } from '../../../domain/clock.ts'
import { adminRoute } from '../../route.ts'
import { done } from '../answers.ts'
import { dataOf, optionalTimestamp, timestampField } from '../fields.ts'
import { optionalTime } from './fields.ts'

const nodeId = z.string().openapi({ example: 'b7Qk2mXw9sLr' })

const job = z
  .object({
    name: z.string().openapi({ example: 'purge deleted files' }),
    state: z.enum(['waiting', 'running', 'set aside']),
    node: nodeId.nullable().openapi({ description: 'Where it runs' }),
    ended_at: optionalTimestamp,
    failures: z.number().int().openapi({ description: 'In a row' }),
    failure: z.string().nullable().openapi({ example: 'Error: the store does not answer' }),
    failed_at: optionalTimestamp,
  })
  .openapi('BackgroundJob')

export const listJobs = adminRoute({
  method: 'get',
  path: '/api/v1/admin/jobs',
  summary: 'List what runs by itself, and what fails',
  answer: dataOf(z.object({ jobs: z.array(job), thumbnails_waiting: z.number().int() })),
  async handle({ call }) {
    const { backgroundJobs } = call.site.services
    const jobs = (await backgroundJobs.list()).map(
      ({ name, state, node, endedAt, failures, failure, failedAt }): z.infer<typeof job> => ({
        name,
        state,
        node,
        ended_at: optionalTime(endedAt),
        failures,
        failure,
        failed_at: optionalTime(failedAt),
      }),
    )
    return { success: true, data: { jobs, thumbnails_waiting: await backgroundJobs.thumbnailsWaiting() } }
  },
})

export const retryJob = adminRoute({
  method: 'post',
  path: '/api/v1/admin/jobs/retry',
  summary: 'Let a job that was set aside run again',
  body: z.object({
    job: z.string('must be the name of a job').max(100).openapi({ example: 'purge deleted files' }),
  }),
  answer: done,
  errors: [400, 404, 413],
  async handle({ call, caller, body }) {
    await call.site.services.backgroundJobs.retry(caller, body.job)
    return { success: true }
  },
})

export const listNodes = adminRoute({
  method: 'get',
  path: '/api/v1/admin/nodes',
  summary: 'List the servers that share the database',
  answer: dataOf(
    z.array(
      z
        .object({
          id: nodeId,
          started_at: timestampField,
          is_this: z.boolean().openapi({ description: 'Whether it is the one that answers' }),
        })
        .openapi('Node'),
    ),
  ),
  async handle({ call }) {
    const nodes = await call.site.services.backgroundJobs.nodes()
    const data = nodes.map(({ id, started_at, isThis }) => ({
      id,
      started_at: timestamp(started_at),
      is_this: isThis,
    }))
    return { success: true, data }
  },
})
