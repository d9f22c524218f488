/** A browser as the server sees it: with cookies and fetch metadata headers. */
import { z } from 'zod'
import type { TestHoldfast } from '../servers/holdfast.ts'
import { checkDocumented } from './openapi.ts'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Error code, or null. */
  readonly error: string | null
  /** The `data` of the answer. */
  data<T>(schema: z.ZodType<T>): T
}

export interface Visitor {
  /** Cookies that the next request would send, by name. */
  readonly cookies: Map<string, string>
  get(path: string, headers?: Record<string, string>): Promise<Reply>
  /** Stores the cookies of an answer to a request made elsewhere. */
  keep(headers: Headers): void
  /** Submits a form of the site. */
  submit(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Reply>
  /** A request by a page of the site. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

/** Password that `signedIn` uses. */
export const PASSWORD = 'violet kettle anchors drift'

/**
 * A browser in which the account's owner has set a password by a link, which ends other sessions, and signed
 * in.
 */
export async function signedIn(
  host: Pick<TestHoldfast, 'url' | 'links'>,
  username: string,
): Promise<Visitor> {
  const person = visitor(() => host.url)
  const token = (await host.links.password(username)).path.split('/').at(-1)
  await person.send('POST', '/api/v1/account/password', { token, password: PASSWORD })
  const { status, text } = await person.send('POST', '/api/v1/session', { username, password: PASSWORD })
  if (status !== 200) throw new Error(`signing in was answered ${status}: ${text}`)
  return person
}

/** Headers of a request by a page of the site. */
export function sessionHeaders({ cookies }: Visitor): Record<string, string> {
  return { cookie: cookieHeader(cookies), 'sec-fetch-site': 'same-origin' }
}

function cookieHeader(cookies: ReadonlyMap<string, string>): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}

const failure = z.object({ error: z.string() })
const success = z.object({ data: z.unknown() })

export function visitor(url: () => string): Visitor {
  const cookies = new Map<string, string>()

  function keep(headers: Headers): void {
    for (const set of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (/max-age=0/i.test(set)) cookies.delete(name)
      else cookies.set(name, value)
    }
  }

  async function ask(method: string, path: string, headers: Record<string, string>, body?: string) {
    const cookie = cookieHeader(cookies)
    const response = await fetch(url() + path, {
      method,
      redirect: 'manual',
      headers: { ...(cookie === '' ? {} : { cookie }), 'user-agent': 'A browser', ...headers },
      ...(body === undefined ? {} : { body }),
    })
    keep(response.headers)
    const text = await response.text()
    const isJson =
      response.headers.get('content-type')?.startsWith('application/json') === true && text !== ''
    const json: unknown = isJson ? JSON.parse(text) : null
    const answer = { status: response.status, isJson, body: json }
    await checkDocumented({ url: url() }, method, path, answer)
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
    keep,
    get: (path, headers = {}) => ask('GET', path, { 'sec-fetch-site': 'same-origin', ...headers }),
    submit: (path, fields, headers = {}) =>
      ask(
        'POST',
        path,
        {
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        },
        new URLSearchParams(fields).toString(),
      ),
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
