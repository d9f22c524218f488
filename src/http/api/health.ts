import { z } from '@hono/zod-openapi'
import { jsonResponse } from '../json.ts'
import { openRoute } from '../route.ts'

export const getHealth = openRoute({
  method: 'get',
  path: '/health',
  host: 'any',
  summary: 'Whether the process is alive',
  tag: 'Health',
  answer: z
    .object({ status: z.literal('ok'), timestamp: z.number().int(), service: z.string() })
    .openapi('Health'),
  async handle({ call }) {
    return { status: 'ok', timestamp: Math.floor(call.site.clock.now() / 1000), service: 'holdfast' }
  },
})

const part = z.enum(['ok', 'down'])
const readiness = z.object({
  status: z.enum(['ready', 'not ready']),
  database: part,
  store: part,
  uploads: z.boolean().openapi({
    description:
      'Whether the disk has room for uploads; all else goes on without it, so this alone is no 503',
  }),
  guest_uploads: z.boolean().openapi({
    description: 'The same for guests, whose uploads stop at twice the free space',
  }),
  removals: z.boolean().openapi({
    description:
      'Whether bytes that nobody needs are removed: not while the database is older than what its store has seen, until "holdfast takeover"',
  }),
})

export const getReadiness = openRoute({
  method: 'get',
  path: '/ready',
  host: 'any',
  summary: 'Whether the database and the blob store answer; 503 while they do not',
  tag: 'Health',
  answer: readiness.openapi('Readiness'),
  async handle({ call }) {
    const { readiness: parts, diskWatch, removing } = call.site.services
    const { database, store } = await parts.check()
    // A disk that cannot be asked is told of as a store that is down.
    const space = await diskWatch.look().catch(() => null)
    const ready = database && store
    const body: z.infer<typeof readiness> = {
      status: ready ? 'ready' : 'not ready',
      database: database ? 'ok' : 'down',
      store: store ? 'ok' : 'down',
      uploads: ready && space?.takesUploads === true,
      guest_uploads: ready && space?.takesGuests === true,
      removals: ready && (await removing.isAllowed().catch(() => false)),
    }
    if (ready) return body
    const message = `Not ready: ${[database ? '' : 'database', store ? '' : 'store'].filter(Boolean).join(' and ')} down`
    return jsonResponse(
      { success: false, message, error: store ? 'DATABASE_UNAVAILABLE' : 'STORAGE_UNAVAILABLE', ...body },
      { status: 503, headers: { 'Retry-After': '10' } },
    )
  },
})
