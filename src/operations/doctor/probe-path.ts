import type { Config } from '../../config.ts'
import { PROBE_HEADER, type ProbeAnswer, probeAnswer } from '../../contract/health.ts'
import type { Signing } from '../../core/hmac.ts'
import { type Clock, MINUTE, SECOND } from '../../domain/clock.ts'
import type { ProxyName } from './proxy-lines.ts'
import { type NoAnswer, type RawAnswer, type RawRequest, rawRequest } from './raw-request.ts'

export interface PublicAddress {
  readonly url: URL
  readonly config: Config
  readonly token: string
  /** Seconds that a proxy must wait for an answer; 0 skips that check. */
  readonly silence: number
}

export interface ProbePath extends PublicAddress {
  readonly proxy: ProxyName | null
  readonly seen: ProbeAnswer
}

export const PROBE = '/api/v1/probe'

export const ANSWER_TIMEOUT = 15 * SECOND

export type ProbeResult = RawAnswer & { readonly seen: ProbeAnswer | null }

/** Sends a request to the server's probe, by the public address. `seen`: null where another program answered. */
export async function probe(
  { url, token }: PublicAddress,
  request: Partial<RawRequest> = {},
): Promise<ProbeResult | NoAnswer> {
  const answer = await rawRequest(url, {
    method: 'GET',
    path: PROBE,
    within: ANSWER_TIMEOUT,
    ...request,
    headers: { [PROBE_HEADER]: token, ...request.headers },
  })
  return isNoAnswer(answer) ? answer : { ...answer, seen: seenIn(answer) }
}

function seenIn({ status, body }: RawAnswer): ProbeAnswer | null {
  if (status !== 200 || !body.startsWith('{')) return null
  const parsed = probeAnswer.safeParse(JSON.parse(body))
  return parsed.success ? parsed.data : null
}

export function isNoAnswer(answer: RawAnswer | NoAnswer): answer is NoAnswer {
  return 'failure' in answer
}

export function describeAnswer(answer: RawAnswer | NoAnswer): string {
  return isNoAnswer(answer) ? answer.reason : `status ${answer.status}`
}

const LIFETIME = 15 * MINUTE

const PURPOSE = 'probe'

/** Tokens from the server's secret with which `holdfast doctor` may probe the server. */
export function createProbes(signing: Signing, clock: Clock) {
  return {
    token: (): string => signing.sign(PURPOSE, clock.now() + LIFETIME),

    admits(token: string | null): boolean {
      const ends = token === null ? null : signing.verify(PURPOSE, token)
      return typeof ends === 'number' && clock.now() < ends
    },
  }
}

export type Probes = ReturnType<typeof createProbes>
