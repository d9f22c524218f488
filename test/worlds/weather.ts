/** Which operation fails, and how: one now and then, or all of a part for a while. */
import type { Chance } from '../support/chance.ts'
import type { Fault, Waiting } from './turns.ts'

interface Spell {
  readonly on: 'db' | 'store'
  readonly reason: Fault['reason']
  /** The share that fails. */
  readonly rate: number
  left: number
}

const SINGLE = 0.006
const SPELL = 0.012

export class Weather {
  readonly #chance: Chance
  /** How often something fails, compared with the usual. */
  readonly #rate: number
  #spell: Spell | null = null
  /** Faults so far. */
  faults = 0

  constructor(chance: Chance, rate: number) {
    this.#chance = chance
    this.#rate = rate
  }

  clear(): void {
    this.#spell = null
  }

  /** The fault of the operation that is about to go on; null for nearly all. */
  over({ kind }: Pick<Waiting, 'kind'>): Fault | null {
    const chance = this.#chance
    this.#change()
    if (kind === 'db sync' || kind === 'sender') return null
    const on = kind === 'store' ? 'store' : 'db'
    const spell = this.#spell?.on === on ? this.#spell : null
    const isFailing = chance.fraction() < (spell?.rate ?? SINGLE * this.#rate)
    if (!isFailing) return null
    this.faults++
    const reason = spell?.reason ?? 'io'
    if (kind === 'db read') return { when: 'before', reason: 'io' }
    const mayBeLost = (kind === 'db commit' || kind === 'store') && reason !== 'full'
    return { when: mayBeLost && chance.fraction() < 0.5 ? 'after' : 'before', reason }
  }

  #change(): void {
    const chance = this.#chance
    if (this.#spell !== null) {
      this.#spell.left--
      if (this.#spell.left === 0) this.#spell = null
    } else if (chance.fraction() < SPELL * this.#rate) {
      this.#spell = {
        on: chance.pick(['db', 'store']),
        reason: chance.pick(['io', 'full', 'away']),
        rate: chance.pick([0.3, 1]),
        left: chance.whole(3, 30),
      }
    }
  }
}
