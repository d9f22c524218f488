import * as z from 'zod/mini'
import { answerOf, RequestFailure } from '../uploads/answers.ts'
import { ownAccount } from './own-account.ts'
import { isSignedOut, noteSession } from './session.ts'

/** Milliseconds before a request is aborted. */
const QUIET = 30_000

export interface JsonRequest extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>
}

/** Throws RequestFailure, also for an answer that is not the server's. */
export async function fetchJson<T>(
  shape: z.ZodMiniType<T>,
  path: string,
  request: JsonRequest = {},
): Promise<T> {
  const signals = [AbortSignal.timeout(QUIET), ...(request.signal == null ? [] : [request.signal])]
  const { response, said } = await answered(path, { ...request, signal: AbortSignal.any(signals) })
  if (!response.ok) {
    const failure = new RequestFailure(answerOf(response.status, said, response.headers.get('retry-after')))
    if (isSignedOut(failure)) noteSession(true)
    throw failure
  }
  noteSession(false)
  const parsed = z.safeParse(shape, json(said))
  if (!parsed.success) throw new RequestFailure(null)
  return parsed.data
}

export function jsonRequest(method: 'POST' | 'PATCH' | 'DELETE', body: object): JsonRequest {
  return { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}

async function answered(path: string, request: JsonRequest): Promise<{ response: Response; said: string }> {
  try {
    const headers = { ...ownAccount(), ...request.headers }
    const response = await fetch(path, { cache: 'no-store', ...request, headers })
    return { response, said: await response.text() }
  } catch {
    throw new RequestFailure(null)
  }
}

function json(said: string): unknown {
  try {
    return JSON.parse(said)
  } catch {
    return null
  }
}

/** Code of a final refusal; null for failures that may pass. */
export function refusedRequest(error: unknown): string | null {
  if (!(error instanceof RequestFailure) || error.answer === null) return null
  const { status, code } = error.answer
  return status >= 400 && status < 500 && !PASSING.includes(status) ? code : null
}

/** Signing in, or waiting, may help. */
const PASSING = [401, 408, 423, 429]
