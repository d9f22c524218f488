import type { AnswerFailure, Flow } from './exchange.ts'
import type { Refuse } from './unreadable.ts'

export interface ListenOptions {
  readonly hostname: string
  /** 0 chooses a free port. */
  readonly port: number
  /** Seconds of inactivity after which a connection is closed, at most 255. */
  readonly quiet: number
  /** Paths, with parameters as `:name`, whose responses stream: of known length, or without end. */
  readonly streaming: readonly string[]
  /** The same with large requests and short responses. */
  readonly receiving?: readonly string[]
  /** Paths without parameters that match such a pattern and are none of these. */
  readonly plain?: readonly string[]
  /** Receives the byte counts of streaming bodies as they move. */
  readonly flow?: Flow | null
  readonly failed?: AnswerFailure
  /** Answers input that is not a valid request. */
  readonly refuse?: Refuse
  /** Time limit in seconds for the head of a request. */
  readonly headWithin?: number
  /** Maximum connections per address; further ones are closed. */
  readonly ceiling?: Ceiling
  /** Forces one implementation; by default a self-test decides. */
  readonly way?: ListenWay
}

/**
 * How requests are received: by the internal dispatch beneath Bun's `node:http`, or by the documented
 * `node:http`.
 */
export type ListenWay = 'dispatch' | 'node:http'

export interface Ceiling {
  readonly most: number
  /** The address as it is counted; null for one without a limit. */
  readonly bucketOf: (address: string) => string | null
  /** Called for each connection that is closed. */
  readonly refused: () => void
}

/** The options with defaults applied. */
export type Listening = Required<Omit<ListenOptions, 'way'>>

export interface HttpListener {
  readonly hostname: string
  readonly port: number
  /** Number of requests without a complete response. */
  readonly pendingRequests: number
  /** Stops accepting connections. Resolves when the last one has ended; `now` closes all of them. */
  stop(now: boolean): Promise<void>
}
