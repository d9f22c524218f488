import type { WholeAnswer } from '../answers/known-body.ts'

export interface Connection {
  readonly address: string
  /** Host and path form a URL; otherwise the request's URL is meaningless. */
  readonly hasUrl: boolean
  /** Bytes are counted as they move; otherwise headers state the lengths. */
  readonly isStreaming: boolean
  /** Body bytes so far; 0 unless streaming. */
  received(): number
  whenOver(tell: (sent: Sent) => void): void
}

export interface Sent {
  /** Differs from the handler's when a body failed before its first byte. */
  readonly status: number
  /** Body bytes accepted by the system, even if the client has disconnected. */
  readonly bytes: number
}

/** Never throws. */
export type AnswerRequest = (request: Request, connection: Connection) => Promise<Response | WholeAnswer>

/** For a body that failed before its first byte. `headers`: of the failed response. */
export type AnswerFailure = (error: unknown, headers: Headers) => Response

export interface Flow {
  received(bytes: number): void
  sent(bytes: number): void
}
