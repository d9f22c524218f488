import { setTimeout as pause } from 'node:timers/promises'
import { z } from '@hono/zod-openapi'
import {
  LONGEST_SILENCE,
  PROBE_HEADER,
  type ProbeAnswer,
  probeAnswer,
  SLOW_ANSWER,
} from '../../contract/health.ts'
import { diagnosisAnswer } from '../../contract/operations.ts'
import { SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { JsonAnswer } from '../../server/answers/answers.ts'
import type { Call } from '../../server/call.ts'
import { adminEndpoint, endpoint, firstValues } from '../../server/endpoint.ts'
import { queryNumber } from '../../server/requests/fields.ts'
import type { OperationsModule } from '../operations.module.ts'
import { isSound } from './doctor.ts'

const query = z.object({
  silence: queryNumber(0, LONGEST_SILENCE)
    .optional()
    .openapi({ description: 'Seconds after which the answer comes', example: 70 }),
  slow: z
    .enum(['true'])
    .optional()
    .openapi({ description: 'Answers with a text that pauses in its middle', example: 'true' }),
})

/** Tells `holdfast doctor` how its request arrived. 404 without a probe token. */
export const probeEndpoint = endpoint({
  documentation: {
    summary: 'Probe the way to the server',
    description: 'For "holdfast doctor"; 404 for everybody else.',
    tag: 'Health',
    query,
    answers: { 200: { description: 'Success', schema: probeAnswer } },
    errors: [400, 404],
  },
  streams: 'out',
  async handle(call, { operations }: { operations: OperationsModule }) {
    if (!operations.probes.admits(call.request.headers.get(PROBE_HEADER))) {
      throw new Refusal('NOT_FOUND', 'There is nothing at this address')
    }
    const asked = query.safeParse(firstValues(call.url.searchParams))
    if (!asked.success) throw new Refusal('INVALID_REQUEST', `"silence" is 0 to ${LONGEST_SILENCE} seconds`)
    if (asked.data.slow !== undefined) return slowAnswer()
    const seen = await seenOf(call)
    if (asked.data.silence !== undefined)
      await pause(asked.data.silence * SECOND, null, { signal: call.request.signal })
    return new JsonAnswer(seen, 200)
  },
})

async function seenOf(call: Call): Promise<ProbeAnswer> {
  const { request, address, peer } = call
  const { headers, method } = request
  return {
    success: true,
    method,
    host: headers.get('host'),
    address,
    peer,
    forwarded_for: headers.get('x-forwarded-for'),
    range: headers.get('range'),
    body: request.body === null ? null : await arrivalOf(request.body),
  }
}

async function arrivalOf(body: ReadableStream<Uint8Array>): Promise<ProbeAnswer['body']> {
  const began = performance.now()
  let [bytes, first, last]: [number, number | null, number | null] = [0, null, null]
  for await (const chunk of body) {
    last = Math.round(performance.now() - began)
    first ??= last
    bytes += chunk.length
  }
  return { bytes, first_after: first, last_after: last }
}

function slowAnswer(): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(encoder.encode(SLOW_ANSWER.begin))
      await pause(SLOW_ANSWER.pause)
      controller.enqueue(encoder.encode(SLOW_ANSWER.end))
      controller.close()
    },
  })
  // As for event streams: nginx may hold back downloads, but passes these on.
  return new Response(body, { headers: { 'Content-Type': 'text/plain', 'X-Accel-Buffering': 'no' } })
}

export const examineEndpoint = adminEndpoint({
  summary: 'Check the set-up',
  description: 'As "holdfast doctor" does. Takes some seconds.',
  answer: diagnosisAnswer,
  async handle(_, { operations }: { operations: OperationsModule }) {
    const diagnosis = await operations.doctor.examine()
    return { success: true, data: { sound: isSound(diagnosis), ...diagnosis } }
  },
})
