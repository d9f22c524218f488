import type { AnswerFailure, Flow } from './exchange.ts'
import type { Refuse } from './unreadable.ts'

export interface ListenOptions {
  readonly hostname: string
  readonly port: number
  /** Idle timeout in seconds, at most 255. */
  readonly quiet: number
  /** With parameters as `:name`; responses are of known length or endless. */
  readonly streaming: readonly string[]
  /** With large requests and short responses. */
  readonly receiving?: readonly string[]
  /** Exceptions, without parameters, to these patterns. */
  readonly plain?: readonly string[]
  readonly flow?: Flow | null
  readonly failed?: AnswerFailure
  readonly refuse?: Refuse
  /** Seconds for the head of a request. */
  readonly headWithin?: number
  /** Per address; further connections are closed. */
  readonly ceiling?: Ceiling
  readonly way?: ListenWay
}

/** The internal dispatch beneath Bun's `node:http`, or the documented `node:http`. */
export type ListenWay = 'dispatch' | 'node:http'

export interface Ceiling {
  readonly most: number
  readonly bucketOf: (address: string) => string | null
  readonly refused: () => void
}

export type Listening = Required<Omit<ListenOptions, 'way'>>

export interface HttpListener {
  readonly hostname: string
  readonly port: number
  readonly pendingRequests: number
  /** Resolves when the last connection has ended; `now` closes all. */
  stop(now: boolean): Promise<void>
}
