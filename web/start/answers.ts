/** What came back from the server, or from whatever stands before it. */
export interface Answer {
  readonly status: number
  /** The server's own word for what is wrong; null where somebody else answered. */
  readonly code: string | null
  /** Seconds. */
  readonly retryAfter: number | null
}

/** A request that was not answered as hoped; `answer` is null when there was none at all. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure'

  constructor(readonly answer: Answer | null) {
    super(answer === null ? 'no answer' : `answered ${answer.status}`)
  }
}

export function answerOf(status: number, body: string, retryAfter: string | null): Answer {
  const seconds = Number(retryAfter ?? Number.NaN)
  return { status, code: codeOf(body), retryAfter: Number.isFinite(seconds) ? seconds : null }
}

function codeOf(body: string): string | null {
  try {
    const parsed: unknown = JSON.parse(body)
    const isError = typeof parsed === 'object' && parsed !== null && 'error' in parsed
    return isError && typeof parsed.error === 'string' ? parsed.error : null
  } catch {
    return null
  }
}
