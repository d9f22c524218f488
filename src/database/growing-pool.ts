import type { CancelTimer, Timers } from '../domain/clock.ts'
import type { SilenceWatch } from '../domain/silence.ts'

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

/** Milliseconds of waiting. A new session costs PostgreSQL some twenty queries, and prepares every statement anew. */
const GROWS_AFTER = 50

type Resolve<Client> = (client: Promise<Client>) => void

/** Opens connections one by one when needed: the pool of `pg` opens one for each request of a burst. */
export class GrowingPool<Client extends Releasable> {
  readonly #pool: OpeningPool<Client>
  readonly #timers: Timers
  readonly #waiting: Resolve<Client>[] = []
  #taken = 0
  /** Retirement round in which each connection was opened. */
  readonly #openedIn = new WeakMap<Releasable, number>()
  #retirements = 0
  #growth: CancelTimer | null = null

  readonly silence: SilenceWatch | null

  constructor(pool: OpeningPool<Client>, timers: Timers, silence: SilenceWatch | null = null) {
    this.silence = silence
    this.#pool = pool
    this.#timers = timers
    pool.on('connect', (client) => this.#openedIn.set(client, this.#retirements))
    // The connection is idle or gone once the listeners have returned.
    pool.on('release', () => queueMicrotask(() => this.#serve()))
  }

  get options(): object {
    return this.#pool.options
  }

  get waitingCount(): number {
    return this.#pool.waitingCount + this.#waiting.length
  }

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

  retireAll(): void {
    this.#retirements++
  }

  isRetired(client: Client): boolean {
    return (this.#openedIn.get(client) ?? 0) !== this.#retirements
  }

  /** Resolves when all connections are closed; refuses waiting requests. */
  end(): Promise<void> {
    const ended = this.#pool.end()
    while (this.#waiting.length > 0) this.#next()
    return ended.finally(() => this.silence?.stop())
  }

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

  #next(): void {
    this.#waiting.shift()?.(this.#take())
  }
}
