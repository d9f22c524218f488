/** A client with one key that believes nothing: an answer that is not the expected one ends the run. */
export interface ScaleClient {
  /** Milliseconds until the whole answer was there, and the answer. Throws when it is not a success. */
  ask(question: Question): Promise<{ milliseconds: number; body: Answer }>
}

export interface Question {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Sent as JSON, or as a form. */
  readonly body?: object
}

/** The parts of answers that are looked at. */
export interface Answer {
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
      const parsed: Answer = JSON.parse(text)
      if (!answer.ok || parsed.success === false)
        throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`)
      return { milliseconds, body: parsed }
    },
  }
}

/** A file of a few bytes that nobody has uploaded before. */
export function smallUpload(): Question {
  const form = new FormData()
  form.set('file', new File([crypto.randomUUID()], 'zz.bin'))
  return { method: 'POST', path: '/api/v1/upload', body: form }
}
