/** Ceilings for shared resources, by network too, since one client may use many addresses. */
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import { type Measure, Network, networksOf } from '../domain/networks.ts'
import type { Sender } from './callers.ts'

export interface Holder {
  /** From the widest to the client's own address; an account is a network of its own. */
  readonly networks: readonly string[]
  /** Came with a key or session. */
  readonly isKnown: boolean
}

export function holderOf(call: { readonly caller: Sender | null; readonly bucket: string }): Holder {
  const { caller } = call
  return caller?.kind === 'account'
    ? accountAsHolder(caller.account)
    : { networks: networksOf(call.bucket), isKnown: false }
}

export function accountAsHolder(account: AccountId): Holder {
  return { networks: [`account ${account}`], isKnown: true }
}

/** `size`: in bytes, entries or another unit of the resource. */
export interface Amount {
  readonly holders: number
  readonly size: number
}

export interface SharedCeiling {
  readonly all: Amount
  readonly each: Amount
  /** Share of `all`, 0 to 1, kept for holders with a key or session. */
  readonly kept: number
  /** Milliseconds. A holding used more recently ends only for a network that holds less. */
  readonly idleAfter: number
}

export interface Holding {
  /** Throws like `begin`, and then changes nothing. */
  grow(size: number): void
  used(): void
  /** May be called repeatedly. */
  end(): void
}

export interface SharedWords {
  readonly each: string
  readonly all: string
  /** Retry-After in seconds. */
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
  yields(): void
}

export class Shares {
  readonly #clock: Clock
  readonly #ceiling: SharedCeiling
  readonly #words: SharedWords
  readonly #all = new Network<Held>()
  readonly #strangers = new Network<Held>()

  constructor(clock: Clock, ceiling: SharedCeiling, words = USUAL_WORDS) {
    this.#clock = clock
    this.#ceiling = ceiling
    this.#words = words
  }

  around({ networks }: Holder): Amount {
    return this.#all.at(networks.slice(0, 1)) ?? { holders: 0, size: 0 }
  }

  /**
   * At the ceiling, ends the longest-idle holding of the largest network and calls its `yielded`. Throws Refusal
   * RATE_LIMITED at the limit of one address or account, SERVER_BUSY at that of all when none ends.
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

/** A holding larger than the ceiling fits when it is alone. */
function shortOf(held: Amount | undefined, more: Amount, most: Amount, part: number): Measure | null {
  const { holders, size } = held ?? { holders: 0, size: 0 }
  if (more.holders > 0 && holders + more.holders > most.holders * part) return 'holders'
  return more.size > 0 && size > 0 && size + more.size > most.size * part ? 'size' : null
}
