/**
 * From the widest to the address as rate limits count it: for IPv6 the /48, /56 and /64, which providers give to an
 * organisation, a household and a link; for IPv4 the /24 and the address. `bucket` from `addressBucket`; other texts
 * are networks of their own.
 */
export function networksOf(bucket: string): readonly string[] {
  const [, wide] = /^(\d+\.\d+\.\d+)\.\d+$/.exec(bucket) ?? []
  if (wide !== undefined) return [`${wide}.0/24`, bucket]
  const [, site, last] = /^([\da-f]+:[\da-f]+:[\da-f]+):([\da-f]+)::\/64$/.exec(bucket) ?? []
  if (site === undefined || last === undefined) return [bucket]
  const household = (Number.parseInt(last, 16) & 0xff00).toString(16)
  return [`${site}::/48`, `${site}:${household}::/56`, bucket]
}

export type Measure = 'holders' | 'size'

export class Network<Entry = never> {
  readonly path: readonly string[]
  readonly entries = new Set<Entry>()
  readonly #below = new Map<string, Network<Entry>>()
  holders = 0
  size = 0

  constructor(path: readonly string[] = []) {
    this.path = path
  }

  /** Adds to the network at `path` and to all around it; returns it. Drops networks without holders. */
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
   * What ends for a newcomer at `path` that needs `needed`: the largest holders in the largest networks. `anyway`:
   * several there hold more than the newcomer would, so even a used holding ends; a single one does not end for its
   * size.
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
