import type { ErrorBody } from '../contract/fields.ts'
import { type Health, health, type Readiness, readiness } from '../contract/health.ts'
import { jsonResponse } from '../server/answers/answers.ts'
import { openEndpoint } from '../server/endpoint.ts'
import type { OperationsModule } from './operations.module.ts'

export const getHealthEndpoint = openEndpoint({
  summary: 'Check liveness',
  description: 'Whether the process is alive.',
  tag: 'Health',
  answer: health,
  async handle({ call }): Promise<Health> {
    return { status: 'ok', timestamp: Math.floor(call.site.clock.now() / 1000), service: 'holdfast' }
  },
})

export const getReadinessEndpoint = openEndpoint({
  summary: 'Check readiness',
  description: 'Whether the database and the blob store answer; 503 while they do not.',
  tag: 'Health',
  answer: readiness,
  async handle(_, { operations }: { operations: OperationsModule }) {
    const { database, store } = await operations.readiness.check()
    // A disk whose space cannot be measured shows as a failing store.
    const space = await operations.diskWatch.look().catch(() => null)
    const ready = database === 'ok' && store
    const isAnswering = database !== 'down' && store
    const body: Readiness = {
      status: ready ? 'ready' : 'not ready',
      database,
      store: store ? 'ok' : 'down',
      uploads: isAnswering && space?.takesUploads === true,
      guest_uploads: isAnswering && space?.takesGuests === true,
      removals: isAnswering && (await operations.removing.isAllowed().catch(() => false)),
    }
    if (ready) return body
    const faults = [database === 'ok' ? '' : `database ${database}`, store ? '' : 'store down']
    const message = `Not ready: ${faults.filter(Boolean).join(', ')}`
    const refusal: ErrorBody = {
      success: false,
      message,
      error: store ? 'DATABASE_UNAVAILABLE' : 'STORAGE_UNAVAILABLE',
    }
    return jsonResponse({ ...refusal, ...body }, { status: 503, headers: { 'Retry-After': '10' } })
  },
})
