/** Who goes on when: each operation of a life waits here until its world lets it through. */
import type { Timers } from '../../src/domain/clock.ts'

/** What is about to happen. `db sync`: the log of the database becomes durable. */
export type TurnKind = 'db read' | 'db write' | 'db commit' | 'db sync' | 'store' | 'sender'

/** How an operation fails. `after`: it is carried out, and its answer is lost. */
export interface Fault {
  readonly when: 'before' | 'after'
  readonly reason: 'io' | 'full' | 'away'
}

export interface Waiting {
  readonly kind: TurnKind
  readonly what: string
  go(fault: Fault | null): void
}

interface Timer {
  readonly due: number
  readonly number: number
  readonly call: () => void
}

/** The operations and timers of one life, from a start to a kill. */
export class Turns {
  /** Timers of the life, by the time of the world. */
  readonly timers: Timers = {
    monotonic: () => this.#monotonic(),
    after: (milliseconds, call) => this.#after(milliseconds, call),
  }
  readonly #monotonic: () => number
  #waiting: Waiting[] = []
  #timers: Timer[] = []
  #count = 0
  #isOver = false

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  get waiting(): readonly Waiting[] {
    return this.#waiting
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves when it is its turn, with the fault that it meets then; never once the life is over. */
  turn(kind: TurnKind, what: string): Promise<Fault | null> {
    return new Promise((resolve) => {
      if (!this.#isOver) this.#waiting.push({ kind, what, go: resolve })
    })
  }

  /** Lets one of those that wait go on. */
  release(at: number, fault: Fault | null): Waiting {
    const [next] = this.#waiting.splice(at, 1)
    if (next === undefined) throw new Error('nobody waits there')
    next.go(fault)
    return next
  }

  /** Ends the life: nothing of it goes on from here. Returns what waited. */
  end(): readonly Waiting[] {
    this.#isOver = true
    const waiting = this.#waiting
    this.#waiting = []
    this.#timers = []
    return waiting
  }

  #after(milliseconds: number, call: () => void): () => void {
    if (this.#isOver) return () => {}
    const timer = { due: this.#monotonic() + milliseconds, number: this.#count++, call }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer)
    }
  }

  /** When the next timer is due, by the monotonic clock; null without any. */
  nextTimer(): number | null {
    return this.#timers.length === 0 ? null : Math.min(...this.#timers.map(({ due }) => due))
  }

  /** Calls those that are due. */
  callDue(): void {
    const now = this.#monotonic()
    const due = this.#timers.filter((timer) => timer.due <= now)
    this.#timers = this.#timers.filter((timer) => timer.due > now)
    due.sort((one, other) => one.due - other.due || one.number - other.number)
    for (const { call } of due) call()
  }
}

/** Time of a world. It stands still unless the world sets it. */
export class WorldTime {
  wall = Date.UTC(2030, 0, 1)
  monotonic = 1_000_000

  advance(milliseconds: number): void {
    this.wall += milliseconds
    this.monotonic += milliseconds
  }
}

const DRAIN = 4

/** Lets all that may go on by itself do so. Nothing in a world has another thread or waits for the system. */
export async function drained(): Promise<void> {
  for (let turn = 0; turn < DRAIN; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
