import type { Signing } from '../../core/hmac.ts'
import { type Clock, MINUTE } from '../../domain/clock.ts'

/** Long enough for one run of the doctor. */
const LIFETIME = 15 * MINUTE

const PURPOSE = 'probe'

/** Tokens with which `holdfast doctor`, who knows the server's secret, may probe it; nobody else may. */
export interface Probes {
  token(): string
  /** False for none, a forged one and one that has expired. */
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
