import { readFileSync } from 'node:fs'
import { ThumbnailFailed } from './maker.ts'

export interface Limits {
  /** Bytes of resident memory. */
  readonly memory: number
  /** Milliseconds of CPU time: waiting on a busy machine does not count. */
  readonly work: number
  /** Milliseconds of wall time for each step. */
  readonly step: number
}

/** Milliseconds between two checks; a process can allocate some tens of megabytes in that time. */
const CHECK_EVERY = 25
/** Milliseconds to wait for a killed process: Bun does not always signal the end of its output. */
const TOLD_WITHIN = 2000

export class ProcessGuard {
  readonly #child: Bun.Subprocess
  readonly #limits: Limits
  readonly #signal: AbortSignal
  readonly #timer: Timer
  readonly #before: Usage
  readonly #gone = Promise.withResolvers<never>()
  #waiting: Timer | undefined
  #passed: string | null = null
  readonly #kill = () => {
    this.#child.kill('SIGKILL')
    this.#waiting ??= setTimeout(() => this.#gone.reject(this.failure()), TOLD_WITHIN)
  }

  constructor(child: Bun.Subprocess, limits: Limits, signal: AbortSignal) {
    this.#child = child
    this.#limits = limits
    this.#signal = signal
    this.#before = usageOf(child.pid)
    this.#gone.promise.catch(() => {})
    this.#timer = setInterval(() => this.#look(), CHECK_EVERY)
    signal.addEventListener('abort', this.#kill)
    if (signal.aborted) this.#kill()
  }

  /** Awaits a step within the time limit. Throws `failure()` when a killed process never signals its end. */
  async step<T>(work: Promise<T>): Promise<T> {
    const { step } = this.#limits
    const timer = setTimeout(() => this.#end(`it took longer than ${step / 1000} seconds`), step)
    try {
      return await Promise.race([work, this.#gone.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  failure(): unknown {
    if (this.#signal.aborted) return this.#signal.reason
    return new ThumbnailFailed(this.#passed ?? 'its process ended by itself')
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
  /** Milliseconds of CPU time. */
  readonly work: number
}

/** Milliseconds per clock tick in /proc/<pid>/stat (proc(5)). */
const TICK = 10

/** Zeros where the system does not tell, and for an ended process. */
export function usageOf(pid: number): Usage {
  try {
    const memory = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    // The program's name, in brackets, may contain any character.
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(/\) (?=[A-Z] )/)
    const [user, system] = fields.split(' ').slice(11, 13)
    return { memory: Number(memory ?? 0) * 1024, work: (Number(user ?? 0) + Number(system ?? 0)) * TICK }
  } catch {
    return { memory: 0, work: 0 }
  }
}
