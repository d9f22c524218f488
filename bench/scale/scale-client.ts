/** A client with one key that verifies every answer: an unexpected one ends the run. */
export interface ScaleClient {
  /**
   * Sends a request; returns the answer and the milliseconds until it was complete. Throws unless it
   * succeeds.
   */
  ask(question: Question): Promise<{ milliseconds: number; body: TimedAnswer }>
}

export interface Question {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Sent as JSON, or as a form. */
  readonly body?: object
}

/** The verified fields of answers. */
export interface TimedAnswer {
  readonly success?: boolean
  readonly data?: unknown
  readonly pagination?: { readonly total: number }
  readonly files_deleted?: number
  readonly slug?: string
}

export function scaleClient(url: string, apiKey: string): ScaleClient {
  const authorization = { Authorization: `Bearer ${apiKey}` }
  return {
    async ask({ method, path, body }) {
      const isForm = body instanceof FormData
      const start = performance.now()
      const answer = await fetch(url + path, {
        method,
        headers: {
          ...authorization,
          ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      })
      const text = await answer.text()
      const milliseconds = performance.now() - start
      const parsed: TimedAnswer = JSON.parse(text)
      if (!answer.ok || parsed.success === false)
        throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`)
      return { milliseconds, body: parsed }
    },
  }
}

/** Uploads a file of a few bytes with new content. */
export function smallUpload(): Question {
  const form = new FormData()
  form.set('file', new File([crypto.randomUUID()], 'zz.bin'))
  return { method: 'POST', path: '/api/v1/upload', body: form }
}
