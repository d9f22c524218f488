/** A browser as the server sees it: with cookies, and with what browsers say about where a request comes from. */
import { z } from 'zod'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The code of an error, or null. */
  readonly error: string | null
  /** What stands under `data`. */
  data<T>(schema: z.ZodType<T>): T
}

export interface Visitor {
  /** By name, as they would be sent next. */
  readonly cookies: Map<string, string>
  get(path: string, headers?: Record<string, string>): Promise<Reply>
  /** From a page of the site. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

const failure = z.object({ error: z.string() })
const success = z.object({ data: z.unknown() })

export function visitor(url: () => string): Visitor {
  const cookies = new Map<string, string>()

  async function ask(method: string, path: string, headers: Record<string, string>, body?: string) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url() + path, {
      method,
      redirect: 'manual',
      headers: { ...(cookie === '' ? {} : { cookie }), 'user-agent': 'A browser', ...headers },
      ...(body === undefined ? {} : { body }),
    })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (/max-age=0/i.test(set)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const text = await response.text()
    const json: unknown = text.startsWith('{') ? JSON.parse(text) : null
    const failed = failure.safeParse(json)
    return {
      status: response.status,
      headers: response.headers,
      text,
      error: failed.success ? failed.data.error : null,
      data: <T>(schema: z.ZodType<T>) => schema.parse(success.parse(json).data),
    }
  }

  return {
    cookies,
    get: (path, headers = {}) => ask('GET', path, { 'sec-fetch-site': 'same-origin', ...headers }),
    send: (method, path, body, headers = {}) =>
      ask(
        method,
        path,
        {
          'sec-fetch-site': 'same-origin',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body === undefined ? undefined : JSON.stringify(body),
      ),
  }
}
