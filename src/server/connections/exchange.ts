import type { WholeAnswer } from '../answers/known-body.ts'

/** The connection of a request. */
export interface Connection {
  /** Remote address; empty when unknown. */
  readonly address: string
  /** Whether Host and path form a valid URL; if not, the request's URL is meaningless. */
  readonly hasUrl: boolean
  /** Whether its bytes are counted as they move. For other requests, the headers state the lengths. */
  readonly isStreaming: boolean
  /** Bytes of the body received so far; 0 where they are not counted as they move. */
  received(): number
  /** Calls the function once, when the response is over. */
  whenOver(tell: (sent: Sent) => void): void
}

/** The response as it was sent. */
export interface Sent {
  /** Status that was sent, which differs from the handler's when a body failed before its first byte. */
  readonly status: number
  /** Bytes of the body. Bytes that the system accepted count as sent, even if the client has disconnected. */
  readonly bytes: number
}

/** Answers any request. Never throws. */
export type AnswerRequest = (request: Request, connection: Connection) => Promise<Response | WholeAnswer>

/** Response for a body that failed before its first byte. `headers`: those of the failed response. */
export type AnswerFailure = (error: unknown, headers: Headers) => Response

export interface Flow {
  received(bytes: number): void
  sent(bytes: number): void
}
