import type { Signing } from '../../core/hmac.ts'
import { type Clock, MINUTE } from '../../domain/clock.ts'

const LIFETIME = 15 * MINUTE

const PURPOSE = 'probe'

/** Tokens from the server's secret with which `holdfast doctor` may probe the server. */
export interface Probes {
  token(): string
  admits(token: string | null): boolean
}

export function createProbes(signing: Signing, clock: Clock): Probes {
  return {
    token: () => signing.sign(PURPOSE, clock.now() + LIFETIME),
    admits(token) {
      const ends = token === null ? null : signing.verify(PURPOSE, token)
      return typeof ends === 'number' && clock.now() < ends
    },
  }
}
