import type { CancelTimer, Timers } from '../domain/clock.ts'
import type { SilenceWatch } from '../domain/silence.ts'

/** What is used of the pool of `pg`. */
interface OpeningPool<Client> {
  readonly options: { readonly max: number }
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
  connect(): Promise<Client>
  end(): Promise<void>
  on(event: 'release', listener: () => void): unknown
  on(event: 'connect', listener: (client: Client) => void): unknown
}

interface Releasable {
  release(isBroken: boolean): void
}

/**
 * Milliseconds for which somebody waits for a connection in use before another one is opened. A new session costs
 * PostgreSQL as much as some twenty queries, and every statement is prepared anew in it.
 */
const GROWS_AFTER = 50

type Resolve<Client> = (client: Promise<Client>) => void

/**
 * A pool that opens connections one by one, as long as those that are there do not suffice: the pool of `pg` opens one for
 * whatever comes while all are in use, and so as many for a burst as it has requests.
 */
export class GrowingPool<Client extends Releasable> {
  readonly #pool: OpeningPool<Client>
  readonly #timers: Timers
  readonly #waiting: Resolve<Client>[] = []
  /** Idle connections that are on their way to somebody. */
  #taken = 0
  /** Connections by how often all had been retired when they were opened. */
  readonly #openedIn = new WeakMap<Releasable, number>()
  #retirements = 0
  /** Opens another connection when nothing else has served those that wait. */
  #growth: CancelTimer | null = null

  /** See `ClientPool.silence`. */
  readonly silence: SilenceWatch | null

  constructor(pool: OpeningPool<Client>, timers: Timers, silence: SilenceWatch | null = null) {
    this.silence = silence
    this.#pool = pool
    this.#timers = timers
    pool.on('connect', (client) => this.#openedIn.set(client, this.#retirements))
    // The connection is idle, or gone, once the listeners have returned.
    pool.on('release', () => queueMicrotask(() => this.#serve()))
  }

  get options(): object {
    return this.#pool.options
  }

  /** Whoever waits for a connection. */
  get waitingCount(): number {
    return this.#pool.waitingCount + this.#waiting.length
  }

  /** A connection, which is given back by its own `release`. */
  connect(): Promise<Client> {
    return (
      this.silence?.run(
        () => this.#connect(),
        (client) => client.release(true),
      ) ?? this.#connect()
    )
  }

  #connect(): Promise<Client> {
    if (this.#waiting.length === 0 && this.#isReady()) return this.#take()
    const { promise, resolve } = Promise.withResolvers<Client>()
    this.#waiting.push(resolve)
    this.#growth ??= this.#growSoon()
    return promise
  }

  /** Has every connection that is open now closed instead of used again. */
  retireAll(): void {
    this.#retirements++
  }

  isRetired(client: Client): boolean {
    return (this.#openedIn.get(client) ?? 0) !== this.#retirements
  }

  /** Resolves when all connections are closed. Whoever waits for one is refused. */
  end(): Promise<void> {
    const ended = this.#pool.end()
    while (this.#waiting.length > 0) this.#next()
    return ended.finally(() => this.silence?.stop())
  }

  /** Whether the pool has an idle connection, none at all, or as many as it may have and a queue of its own. */
  #isReady(): boolean {
    const { totalCount, options } = this.#pool
    return this.#hasIdle() || totalCount === 0 || totalCount >= options.max
  }

  #hasIdle(): boolean {
    return this.#pool.idleCount > this.#taken
  }

  async #take(): Promise<Client> {
    const isIdle = this.#hasIdle()
    if (isIdle) this.#taken++
    try {
      for (;;) {
        const client = await this.#pool.connect()
        if (!this.isRetired(client)) return client
        client.release(true)
      }
    } finally {
      if (isIdle) this.#taken--
      this.#serve()
    }
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#isReady()) this.#next()
    if (this.#waiting.length > 0) return
    this.#growth?.()
    this.#growth = null
  }

  #growSoon(): CancelTimer {
    return this.#timers.after(GROWS_AFTER, () => {
      this.#growth = this.#waiting.length > 1 ? this.#growSoon() : null
      this.#next()
      this.#serve()
    })
  }

  /** Serves the one that has waited longest, by a connection that was there or a new one. */
  #next(): void {
    this.#waiting.shift()?.(this.#take())
  }
}
