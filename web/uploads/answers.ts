import type { FailedAnswer } from '../../src/client/policy/upload-policy.ts'
import { wholeNumber } from '../../src/domain/ids.ts'

export interface PageAnswer extends FailedAnswer {
  readonly reason: string | null
}

export class RequestFailure extends Error {
  override readonly name = 'RequestFailure'

  constructor(readonly answer: PageAnswer | null) {
    super(answer === null ? 'no answer' : `answered ${answer.status}`)
  }
}

export function answerOf(status: number, body: string, retryAfter: string | null): PageAnswer {
  const { error: code, reason } = errorOf(body)
  return { status, code, reason, retryAfter: wholeNumber(retryAfter) }
}

function errorOf(body: string): { readonly error: string | null; readonly reason: string | null } {
  const said = fieldsOf(body)
  const text = (field: string) => (typeof said[field] === 'string' ? said[field] : null)
  return { error: text('error'), reason: text('reason') }
}

function fieldsOf(body: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
  } catch {
    return {}
  }
}
