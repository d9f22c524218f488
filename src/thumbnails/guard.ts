/** Holds a process to its limits, and kills it at the first that it passes. */
import { readFileSync } from 'node:fs'
import { MakingFailed } from './maker.ts'

export interface Limits {
  /** Bytes of memory that are really in use. */
  readonly memory: number
  /** Milliseconds of work. Whoever comes last on a busy machine is not to be blamed for waiting. */
  readonly work: number
  /** Milliseconds for each step, however little of it was work. */
  readonly step: number
}

/** Milliseconds between two looks: a process gets hold of some tens of megabytes in that time. */
const LOOK_EVERY = 25
/** Milliseconds for which a killed process is waited for: the runtime does not always tell the end of what it wrote. */
const TOLD_WITHIN = 2000

export class Guard {
  readonly #child: Bun.Subprocess
  readonly #limits: Limits
  readonly #signal: AbortSignal
  readonly #timer: Timer
  readonly #before: Usage
  /** Rejects when the process was killed and somebody still waits for what it did. */
  readonly #gone = Promise.withResolvers<never>()
  #waiting: Timer | undefined
  #passed: string | null = null
  readonly #kill = () => {
    this.#child.kill('SIGKILL')
    this.#waiting ??= setTimeout(() => this.#gone.reject(this.failure()), TOLD_WITHIN)
  }

  /** Watches until `end`. An aborted signal kills the process too. */
  constructor(child: Bun.Subprocess, limits: Limits, signal: AbortSignal) {
    this.#child = child
    this.#limits = limits
    this.#signal = signal
    this.#before = usageOf(child.pid)
    this.#gone.promise.catch(() => {})
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY)
    signal.addEventListener('abort', this.#kill)
    if (signal.aborted) this.#kill()
  }

  /** Waits for something that the process has to do within its time. Throws `failure()` when its end is never told. */
  async step<T>(work: Promise<T>): Promise<T> {
    const { step } = this.#limits
    const timer = setTimeout(() => this.#end(`it took longer than ${step / 1000} seconds`), step)
    try {
      return await Promise.race([work, this.#gone.promise])
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
    clearTimeout(this.#waiting)
    this.#signal.removeEventListener('abort', this.#kill)
  }

  #look(): void {
    const { memory, work } = this.#limits
    const usage = usageOf(this.#child.pid)
    if (usage.memory > memory) this.#end(`it took more than ${memory / 1024 ** 2} MB`)
    if (usage.work - this.#before.work > work) this.#end(`it worked for more than ${work / 1000} seconds`)
  }

  #end(reason: string): void {
    this.#passed ??= reason
    this.#kill()
  }
}

interface Usage {
  /** Bytes. */
  readonly memory: number
  /** Milliseconds on a core. */
  readonly work: number
}

/** Linux counts in hundredths of a second there (proc(5)). */
const TICK = 10

/** What the process has taken so far; nothing where the system does not tell, or of a process that is gone. */
export function usageOf(pid: number): Usage {
  try {
    const memory = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    // The name of the program, in brackets, may hold anything.
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(/\) (?=[A-Z] )/)
    const [user, system] = fields.split(' ').slice(11, 13)
    return { memory: Number(memory ?? 0) * 1024, work: (Number(user ?? 0) + Number(system ?? 0)) * TICK }
  } catch {
    return { memory: 0, work: 0 }
  }
}
