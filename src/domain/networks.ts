/**
 * The networks of a client, from the widest to its own address as rate limits count it: for IPv6 the /48, the /56 and the
 * /64, which are what providers give to an organisation, a household and a link; for IPv4 the /24 and the address.
 * `bucket`: as `addressBucket` writes it; anything else is a network of its own.
 */
export function networksOf(bucket: string): readonly string[] {
  const [, wide] = /^(\d+\.\d+\.\d+)\.\d+$/.exec(bucket) ?? []
  if (wide !== undefined) return [`${wide}.0/24`, bucket]
  const [, site, last] = /^([\da-f]+:[\da-f]+:[\da-f]+):([\da-f]+)::\/64$/.exec(bucket) ?? []
  if (site === undefined || last === undefined) return [bucket]
  const household = (Number.parseInt(last, 16) & 0xff00).toString(16)
  return [`${site}::/48`, `${site}:${household}::/56`, bucket]
}

/** What is counted of holders: how many they are, or how much they hold together. */
export type Measure = 'holders' | 'size'

/** A network with what is held in it; the networks in it, or the holders at one address. */
export class Network<Entry = never> {
  /** Names from the widest network to this one. */
  readonly path: readonly string[]
  readonly entries = new Set<Entry>()
  readonly #below = new Map<string, Network<Entry>>()
  holders = 0
  size = 0

  constructor(path: readonly string[] = []) {
    this.path = path
  }

  /** Adds to the network at `path` below this one, and to all around it; returns it. Forgets those without holders. */
  add(path: readonly string[], holders: number, size: number): Network<Entry> {
    this.holders += holders
    this.size += size
    const [name, ...rest] = path
    if (name === undefined) return this
    const next = this.#below.get(name) ?? new Network<Entry>([...this.path, name])
    const found = next.add(rest, holders, size)
    if (next.holders === 0) this.#below.delete(name)
    else this.#below.set(name, next)
    return found
  }

  at(path: readonly string[]): Network<Entry> | undefined {
    const [name, ...rest] = path
    return name === undefined ? this : this.#below.get(name)?.at(rest)
  }

  /**
   * Where something ends for a newcomer at `path` that needs so much: the addresses that hold most in the networks that
   * hold most. `anyway`: several hold more there than the newcomer would, so that
   * it ends there even if it is in use; one alone does not end for its size.
   */
  whoYields(path: readonly string[], needed: number, by: Measure): Yielding<Entry> {
    for (let around: Network<Entry> | undefined = this, depth = 0; around !== undefined; depth++) {
      const name = path[depth]
      if (name === undefined) break
      const own: Network<Entry> | undefined = around.#below.get(name)
      const most = around.#most(by)
      if (most > (own?.[by] ?? 0) + needed) {
        const others = [...around.#below.values()].filter((each) => each[by] === most)
        return { addresses: around.#heaviest(by), anyway: others.every(({ holders }) => holders > 1) }
      }
      around = own
    }
    return { addresses: this.#heaviest(by), anyway: false }
  }

  #most(by: Measure): number {
    return this.#below.values().reduce((most, network) => Math.max(most, network[by]), 0)
  }

  #heaviest(by: Measure): Network<Entry>[] {
    if (this.#below.size === 0) return [this]
    const most = this.#most(by)
    return [...this.#below.values()].filter((each) => each[by] === most).flatMap((each) => each.#heaviest(by))
  }
}

export interface Yielding<Entry> {
  readonly addresses: readonly Network<Entry>[]
  readonly anyway: boolean
}
