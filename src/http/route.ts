import { z } from '@hono/zod-openapi'
import type { Administrator } from '../domain/audit.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountCaller, SessionCaller } from '../services/caller.ts'
import { readJson } from './body.ts'
import { administrator, type Call, keyedCaller, signedInCaller } from './call.ts'
import { JsonAnswer } from './json.ts'
import type { Need } from './need.ts'
import { assertOwnOrigin } from './own-page.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options'

/**
 * `key`: an API key is needed, or the session of the site. `session`: what concerns signing in, which no key may do.
 * `administrator`: the session of one, because a key that leaks must not run the server. `optional`: without either the
 * caller is a guest. `none`: nobody is asked. Whoever may send a key is told what it needs.
 */
export type Auth =
  | { readonly auth: 'key' | 'optional'; readonly need: Need }
  | { readonly auth: 'session' | 'administrator' | 'none'; readonly need?: never }

/** What the OpenAPI document says of a route. */
export interface Documentation {
  readonly summary: string
  readonly tag:
    | 'Uploads'
    | 'Files'
    | 'Folders'
    | 'Bin'
    | 'Account'
    | 'Signing in'
    | 'Administration'
    | 'Health'
    | 'Public'
    | 'Site'
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly body?: { readonly schema: z.ZodType; readonly type: string }
  readonly answers: Readonly<Record<number, Answer>>
  /** Error statuses besides those every route of its kind may answer. */
  readonly errors: readonly number[]
}

/** `type`: of the body, JSON when it is left out; `text`: of plain text that it may be instead. */
export interface Answer {
  readonly description: string
  readonly schema?: z.ZodType
  readonly type?: string
  readonly text?: z.ZodType
  readonly headers?: z.ZodObject
}

const binary = z.string().openapi({ type: 'string', format: 'binary' })

/** An answer of bytes: a file, a picture, a page. */
export function bytesOf(type: string, description: string): Answer {
  return { description, type, schema: binary }
}

/** One row of the route table. */
export type Route = Auth & RouteParts

export interface RouteParts {
  readonly method: Method
  /** With parameters in braces, as OpenAPI writes them. */
  readonly path: string
  readonly documentation: Documentation
  /**
   * What streams through it: a large body `in`, whose sender may wait for 100 Continue, or one `out` of a known length or
   * without an end, which it may do only where the bytes lie in S3. Says which way `listen` has it answered.
   */
  readonly streams?: 'in' | 'out' | 'out of S3'
  /**
   * What other methods get at its path: 405 unless it says that there is nothing, or nothing but preflights. For paths
   * that match whatever no other route has.
   */
  readonly others?: 'nothing' | 'preflight'
  /**
   * Where it is served when content has a name of its own: there, at `any` name, or, when left out, at every name but
   * that.
   */
  readonly host?: 'content' | 'any'
  /** Headers of all its answers, and of those to methods that no route at its path takes. */
  readonly always?: Readonly<Record<string, string>>
  readonly handle: (call: Call) => Promise<Response | JsonAnswer>
}

/** Whether a browser that asks for a page gets one, also where the route refuses it. */
export function isForPeople({ documentation: { tag } }: Route): boolean {
  return tag === 'Site' || tag === 'Public'
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined

interface JsonInput<Who, Query, Body> {
  readonly call: Call
  readonly caller: Who
  readonly params: Readonly<Record<string, string>>
  readonly query: Output<Query>
  readonly body: Output<Body>
}

interface JsonRoute<Who, Query, Body> {
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly tag: Documentation['tag']
  readonly params?: z.ZodObject
  readonly query?: Query
  readonly body?: Body
  /** Bytes that the body may have, where that is not what most JSON may have. */
  readonly bodyLimit?: number
  readonly host?: RouteParts['host']
  readonly answer: z.ZodType
  readonly status?: 200 | 201
  readonly errors?: readonly number[]
  /** What it returns is sent as JSON, unless it is an answer already. */
  readonly handle: (input: JsonInput<Who, Query, Body>) => Promise<unknown>
}

type Schema = z.ZodObject | undefined

/** A route for holders of a key that has what it needs and for people who are signed in, which takes parsed input and answers JSON. */
export function keyedRoute<Query extends Schema = undefined, Body extends Schema = undefined>(
  route: JsonRoute<AccountCaller, Query, Body> & { readonly need: Need },
): Route {
  return jsonRoute({ auth: 'key', need: route.need }, keyedCaller, route)
}

/** A route for people who are signed in on the site, which takes parsed input and answers JSON. */
export function sessionRoute<Query extends Schema = undefined, Body extends Schema = undefined>(
  route: JsonRoute<SessionCaller, Query, Body>,
): Route {
  return jsonRoute({ auth: 'session' }, signedInCaller, route)
}

/** A route for administrators who are signed in on the site, which takes parsed input and answers JSON. */
export function adminRoute<Query extends Schema = undefined, Body extends Schema = undefined>(
  route: Omit<JsonRoute<Administrator, Query, Body>, 'tag'>,
): Route {
  return jsonRoute({ auth: 'administrator' }, administrator, { ...route, tag: 'Administration' })
}

/** A route for everybody, which takes parsed input and answers JSON. */
export function openRoute<Query extends Schema = undefined, Body extends Schema = undefined>(
  route: JsonRoute<null, Query, Body>,
): Route {
  return jsonRoute({ auth: 'none' }, async () => null, route)
}

/** A route for whoever sits at a page of this site, signed in or not; other sites are refused. */
export function ownSiteRoute<Query extends Schema = undefined, Body extends Schema = undefined>(
  route: JsonRoute<null, Query, Body>,
): Route {
  const authenticate = async (call: Call) => {
    assertOwnOrigin(call)
    return null
  }
  return jsonRoute({ auth: 'none' }, authenticate, route)
}

function jsonRoute<Who, Query extends Schema, Body extends Schema>(
  auth: Auth,
  authenticate: (call: Call) => Promise<Who>,
  route: JsonRoute<Who, Query, Body>,
): Route {
  const {
    method,
    path,
    summary,
    tag,
    params,
    query,
    body,
    bodyLimit,
    host,
    errors = [],
    status = 200,
  } = route
  return {
    ...auth,
    method,
    path,
    ...(host === undefined ? {} : { host }),
    documentation: {
      summary,
      tag,
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body: { schema: body, type: 'application/json' } }),
      answers: { [status]: { description: 'Success', schema: route.answer } },
      errors,
    },
    async handle(call) {
      const caller = await authenticate(call)
      const result = await route.handle({
        call,
        caller,
        params: call.params,
        query: parse(
          query,
          query === undefined ? undefined : Object.fromEntries([...call.url.searchParams].reverse()),
        ),
        body: parse(body, body === undefined ? undefined : await readJson(call, bodyLimit)),
      })
      return result instanceof Response || result instanceof JsonAnswer
        ? result
        : new JsonAnswer(result, status)
    },
  }
}

/** The same route at another path. */
export function aliasOf(route: Route, path: string): Route {
  return { ...route, path }
}

function parse<S extends Schema>(schema: S | undefined, input: unknown): Output<S>
function parse(schema: Schema, input: unknown): unknown {
  if (schema === undefined) return undefined
  const result = schema.safeParse(input)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const field = issue?.path.join('.') ?? ''
  throw new Refusal(
    'INVALID_REQUEST',
    field === '' ? 'The body must be a JSON object' : `"${field}": ${issue?.message ?? 'invalid'}`,
  )
}
