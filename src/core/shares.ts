/**
 * What one client may hold of something that all share: requests that wait, memory, rows. One client is cheap to repeat from
 * many addresses, so that limits by address alone leave nothing to others: here the ceiling is shared by network.
 */
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import { type Measure, Network, networksOf } from '../domain/networks.ts'
import type { Sender } from './callers.ts'

/** Whoever holds something. */
export interface Holder {
  /** The networks that it is counted in, from the widest to its own address; an account is a network of its own. */
  readonly networks: readonly string[]
  /** Whether it came with a key or a session. */
  readonly isKnown: boolean
}

/** The holder behind a request: its account, or the address of a client without one. */
export function holderOf(call: { readonly caller: Sender | null; readonly bucket: string }): Holder {
  const { caller } = call
  return caller?.kind === 'account'
    ? accountAsHolder(caller.account)
    : { networks: networksOf(call.bucket), isKnown: false }
}

export function accountAsHolder(account: AccountId): Holder {
  return { networks: [`account ${account}`], isKnown: true }
}

/** How many hold something, and how much in all, in bytes, entries or what it is made of. */
export interface Amount {
  readonly holders: number
  readonly size: number
}

export interface SharedCeiling {
  readonly all: Amount
  /** Of one address or account. */
  readonly each: Amount
  /** Part of `all`, from 0 to 1, that is for holders with a key or a session alone. */
  readonly kept: number
  /** Milliseconds: what was used more recently is in use, and ends only for a network that holds less. */
  readonly idleAfter: number
}

/** Something held. */
export interface Holding {
  /** Takes more. Throws like `begin`, and then changes nothing. */
  grow(size: number): void
  /** Notes that it is in use now. */
  used(): void
  /** May be called repeatedly. */
  end(): void
}

/** The refusals in the words of what is shared. */
export interface SharedWords {
  readonly each: string
  readonly all: string
  /** Seconds until it is worth another try. */
  readonly retry: number
}

export const USUAL_WORDS: SharedWords = {
  each: 'Too many requests come from your network at once; try again soon',
  all: 'Too many requests come to this server at once; try again soon',
  retry: 5,
}

interface Held {
  size: number
  usedAt: number
  /** Ends it for another. */
  yields(): void
}

/** The holders of one thing in this process. */
export class Shares {
  readonly #clock: Clock
  readonly #ceiling: SharedCeiling
  readonly #words: SharedWords
  readonly #all = new Network<Held>()
  /** Those of `#all` without a key or a session. */
  readonly #strangers = new Network<Held>()

  constructor(clock: Clock, ceiling: SharedCeiling, words = USUAL_WORDS) {
    this.#clock = clock
    this.#ceiling = ceiling
    this.#words = words
  }

  /** How much is held in the widest network of the holder. */
  around({ networks }: Holder): Amount {
    return this.#all.at(networks.slice(0, 1)) ?? { holders: 0, size: 0 }
  }

  /**
   * Takes a share. Where a ceiling is reached, the one ends that has been idle longest in the network that holds most, and
   * its `yielded` is called. Throws Refusal RATE_LIMITED when the address or account has as much as one may have,
   * SERVER_BUSY when all together have and nothing ends.
   */
  begin(holder: Holder, size: number, yielded: () => void): Holding {
    const { networks, isKnown } = holder
    const trees = isKnown ? [this.#all] : [this.#all, this.#strangers]
    let isOver = false
    const held: Held = {
      size,
      usedAt: this.#clock.monotonic(),
      yields() {
        end()
        yielded()
      },
    }
    function end(): void {
      if (isOver) return
      isOver = true
      for (const tree of trees) tree.add(networks, -1, -held.size).entries.delete(held)
    }
    this.#makeRoom(holder, held, { holders: 1, size })
    for (const tree of trees) tree.add(networks, 1, size).entries.add(held)
    return {
      grow: (more) => {
        if (isOver) return
        held.usedAt = this.#clock.monotonic()
        this.#makeRoom(holder, held, { holders: 0, size: more })
        held.size += more
        for (const tree of trees) tree.add(networks, 0, more)
      },
      used: () => {
        held.usedAt = this.#clock.monotonic()
      },
      end,
    }
  }

  #makeRoom(holder: Holder, newcomer: Held, more: Amount): void {
    const { each, all, kept } = this.#ceiling
    const { each: tooMuch, all: busy, retry } = this.#words
    if (shortOf(this.#all.at(holder.networks), more, each, 1) !== null) {
      throw new Refusal('RATE_LIMITED', tooMuch, retry)
    }
    for (;;) {
      const ofStrangers = holder.isKnown ? null : shortOf(this.#strangers, more, all, 1 - kept)
      const short = ofStrangers ?? shortOf(this.#all, more, all, 1)
      if (short === null) return
      const tree = ofStrangers === null ? this.#all : this.#strangers
      const last = this.#idleLongest(tree, holder, more[short], short, newcomer)
      if (last === null) throw new Refusal('SERVER_BUSY', busy, retry)
      last.yields()
    }
  }

  #idleLongest(
    tree: Network<Held>,
    { networks }: Holder,
    needed: number,
    by: Measure,
    newcomer: Held,
  ): Held | null {
    const { addresses, anyway } = tree.whoYields(networks, needed, by)
    const until = anyway ? Number.POSITIVE_INFINITY : this.#clock.monotonic() - this.#ceiling.idleAfter
    let last: Held | null = null
    for (const { entries } of addresses) {
      for (const held of entries) {
        if (held !== newcomer && held.usedAt <= until && (last === null || held.usedAt < last.usedAt))
          last = held
      }
    }
    return last
  }
}

/** What there is not enough of. One that alone is larger than all there is fits when there is no other. */
function shortOf(held: Amount | undefined, more: Amount, most: Amount, part: number): Measure | null {
  const { holders, size } = held ?? { holders: 0, size: 0 }
  if (more.holders > 0 && holders + more.holders > most.holders * part) return 'holders'
  return more.size > 0 && size > 0 && size + more.size > most.size * part ? 'size' : null
}
