/** Holds a process to its limits, and kills it at the first that it passes. */
import { readFileSync } from 'node:fs'
import { MakingFailed } from './maker.ts'

export interface Limits {
  /** Bytes of memory that are really in use. */
  readonly memory: number
  /** Milliseconds for each step. */
  readonly time: number
}

/** Milliseconds between two looks at the memory: a process gets hold of some tens of megabytes in that time. */
const LOOK_EVERY = 25

export class Guard {
  readonly #child: Bun.Subprocess
  readonly #limits: Limits
  readonly #signal: AbortSignal
  readonly #timer: Timer
  readonly #kill = () => this.#child.kill('SIGKILL')
  #passed: string | null = null

  /** Watches until `end`. An aborted signal kills the process too. */
  constructor(child: Bun.Subprocess, limits: Limits, signal: AbortSignal) {
    this.#child = child
    this.#limits = limits
    this.#signal = signal
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY)
    signal.addEventListener('abort', this.#kill)
    if (signal.aborted) this.#kill()
  }

  /** Waits for something that the process has to do within its time. */
  async step<T>(work: Promise<T>): Promise<T> {
    const { time } = this.#limits
    const timer = setTimeout(() => this.#end(`it took longer than ${time / 1000} seconds`), time)
    try {
      return await work
    } finally {
      clearTimeout(timer)
    }
  }

  /** What to throw when the process has ended in the middle of its work. */
  failure(): unknown {
    if (this.#signal.aborted) return this.#signal.reason
    return new MakingFailed(this.#passed ?? 'its process ended by itself')
  }

  end(): void {
    clearInterval(this.#timer)
    this.#signal.removeEventListener('abort', this.#kill)
  }

  #look(): void {
    const { memory } = this.#limits
    if (residentMemory(this.#child.pid) > memory) this.#end(`it took more than ${memory / 1024 ** 2} MB`)
  }

  #end(reason: string): void {
    this.#passed ??= reason
    this.#kill()
  }
}

/** Bytes; 0 where the system does not tell, or of a process that is gone. */
export function residentMemory(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
