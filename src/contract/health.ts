import * as z from 'zod/mini'
import { component, described } from './fields.ts'

export const health = component(
  'Health',
  z.object({ status: z.literal('ok'), timestamp: z.int(), service: z.string() }),
)
export type Health = z.infer<typeof health>

export const readiness = component(
  'Readiness',
  z.object({
    status: z.enum(['ready', 'not ready']),
    database: described(z.enum(['ok', 'down', 'damaged']), {
      description: 'damaged: pages of the SQLite file cannot be read; what does not need them is answered',
    }),
    store: z.enum(['ok', 'down']),
    uploads: described(z.boolean(), {
      description:
        'Whether the disk has room for uploads; all else goes on without it, so this alone is no 503',
    }),
    guest_uploads: described(z.boolean(), {
      description: 'The same for guests, whose uploads stop at twice the free space',
    }),
    removals: described(z.boolean(), {
      description:
        'Whether bytes that nobody needs are removed: not while the database is older than what its store has seen, until "holdfast takeover"',
    }),
  }),
)
export type Readiness = z.infer<typeof readiness>

/** Longest silence that a probe may ask for, in seconds. */
export const LONGEST_SILENCE = 240

/** Before and after a pause in milliseconds. */
export const SLOW_ANSWER = { begin: `begin${' '.repeat(1019)}`, end: 'end', pause: 1500 } as const

const header = (example: string) => described(z.nullable(z.string()), { example })
const milliseconds = (from: string) =>
  described(z.nullable(z.int()), {
    description: `Milliseconds from the head of the request to ${from}`,
    example: 12,
  })

/** The probe as received, which shows `holdfast doctor` what proxies changed. */
export const probeAnswer = component(
  'Probe',
  z.object({
    success: z.literal(true),
    method: described(z.string(), { example: 'PUT' }),
    host: header('files.example.org'),
    address: described(z.string(), { description: 'The client, as limits count it', example: '203.0.113.7' }),
    peer: described(z.string(), {
      description: 'Who is connected to the server: the last proxy, if there is one',
      example: '127.0.0.1',
    }),
    forwarded_for: header('203.0.113.7'),
    range: header('bytes=10-19'),
    body: z.nullable(
      z.object({
        bytes: z.int(),
        first_after: milliseconds('the first byte of its body'),
        last_after: milliseconds('the last one'),
      }),
    ),
  }),
)
export type ProbeAnswer = z.infer<typeof probeAnswer>

export const openApiAnswer = z.looseObject({ openapi: z.string() })

export const PROBE_HEADER = 'Holdfast-Probe'
