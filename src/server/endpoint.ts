import { z } from '@hono/zod-openapi'
import * as mini from 'zod/mini'
import { described } from '../contract/documentation.ts'
import type { AccountCaller, SessionCaller } from '../core/callers.ts'
import type { Administrator } from '../domain/audit.ts'
import { Refusal } from '../domain/errors.ts'
import { JsonAnswer } from './answers/json.ts'
import type { Call } from './call.ts'
import { readJsonBody } from './requests/body.ts'
import { unknownField } from './requests/fields.ts'
import { wrongValue } from './requests/wrong-values.ts'

/** Groups of operations, with what the OpenAPI document says of each. */
export const TAGS = {
  Uploads: 'Files on their way in, at once or resumably, and the receipts of guests',
  Files: 'Files of an account',
  Folders: 'Folders of an account',
  Bin: 'What was deleted, and can be restored until it is gone for good',
  Links: 'Links to several files and folders, and links that ask for files',
  Webhooks: 'Events sent to another server, and how their deliveries went',
  Account: 'The account of the one who asks: its use, keys and events',
  'Signing in': 'Passwords, passkeys, codes and sessions of people on the site',
  Administration: 'For administrators who are signed in on the site',
  Health: 'Whether the server runs, and what it says of itself',
  Public: 'What anybody may open, by its public address',
  Site: 'Pages for people, in HTML',
} as const

type Tag = keyof typeof TAGS

/** Documentation of a route for the OpenAPI document. */
export interface Documentation {
  /** A title, and for clients that are generated from the document the name of the operation. */
  readonly summary: string
  readonly description?: string
  readonly tag: Tag
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly body?: { readonly schema: z.ZodType; readonly type: string }
  readonly answers: Readonly<Record<number, EndpointAnswer>>
  /** Error statuses besides those common to all routes of its kind. */
  readonly errors: readonly number[]
  /** Of a GET whose HEAD answers something of its own. */
  readonly head?: Pick<Documentation, 'summary' | 'description' | 'headers' | 'answers'>
}

/** `type`: media type of the body, by default JSON; `text`: schema of an alternative plain-text body. */
export interface EndpointAnswer {
  readonly description: string
  readonly schema?: ContractSchema
  readonly type?: string
  readonly text?: ContractSchema
  readonly headers?: z.ZodObject
}

/** A schema of the contract. */
type ContractSchema = mini.ZodMiniType

const binary = described(mini.string(), { format: 'binary' })

/** A response of bytes: a file, a picture, a page. */
export function bytesOf(type: string, description: string): EndpointAnswer {
  return { description, type, schema: binary }
}

/** The field of a form that is a file. */
export const fileField = z.string().openapi({ type: 'string', format: 'binary' })

/** A request body of bytes. */
export function bodyOfBytes(type: string): NonNullable<Documentation['body']> {
  return { type, schema: fileField }
}

/**
 * Handler of a route with its documentation. Its row in `routes.ts` adds the path, the access and the body
 * limit. `Needs`: the parts that it uses; `Who`: what it must know of its caller.
 */
export interface Endpoint<Needs, Who> {
  readonly documentation: Documentation
  /**
   * Whether it streams a response of known or unbounded length. Together with the row this decides how the listener serves
   * it.
   */
  readonly streams?: 'out'
  /** Headers of all its responses, and of those to unsupported methods at its path. */
  readonly always?: Readonly<Record<string, string>>
  readonly handle: (call: Call, parts: Needs, caller: Who) => Promise<Response | JsonAnswer>
  /** Handles the rest of a request that was refused, here or before. */
  readonly refused?: (call: Call, refusal: Refusal) => Promise<void>
}

/** An endpoint that parses its request itself. */
export function endpoint<Needs, Who>(given: Endpoint<Needs, Who>): Endpoint<Needs, Who> {
  return given
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined

interface JsonInput<Who, Query, Body> {
  readonly call: Call
  readonly caller: Who
  readonly params: Readonly<Record<string, string>>
  readonly query: Output<Query>
  readonly body: Output<Body>
}

/** `Said` as a deeply readonly type, which handlers may return. */
type Sent<Said> = Said extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : Said extends object
    ? { readonly [Field in keyof Said]: Sent<Said[Field]> }
    : Said

/**
 * Keeps the literal type `true` in `{ success: true }` during inference, where the compiler would widen it to
 * boolean.
 */
interface LiteralSuccess {
  readonly success?: boolean
}

interface JsonEndpoint<Needs, Who, Query, Body, Says extends ContractSchema> {
  readonly summary: string
  readonly description?: string
  readonly tag: Documentation['tag']
  readonly params?: z.ZodObject
  readonly query?: Query
  readonly body?: Body
  readonly answer: Says
  readonly status?: 200 | 201
  readonly errors?: readonly number[]
  /** The result is sent as JSON, unless it is a response already. */
  readonly handle: (
    input: JsonInput<Who, Query, Body>,
    parts: Needs,
  ) => Promise<(Sent<mini.output<Says>> & LiteralSuccess) | Response | JsonAnswer>
}

type Schema = z.ZodObject | undefined

/** Makes a JSON endpoint with parsed input, for such a caller. */
type EndpointMaker<Who> = <
  Needs,
  Says extends ContractSchema,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
>(
  given: JsonEndpoint<Needs, Who, Query, Body, Says>,
) => Endpoint<Needs, Who>

/** For API keys and sessions. */
export const keyedEndpoint: EndpointMaker<AccountCaller> = jsonEndpoint

/** For sessions. */
export const sessionEndpoint: EndpointMaker<SessionCaller> = jsonEndpoint

/** For any caller that its row admits. */
export const openEndpoint: EndpointMaker<unknown> = jsonEndpoint

/** A JSON endpoint with parsed input, for administrators' sessions. */
export function adminEndpoint<
  Needs,
  Says extends ContractSchema,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
>(given: Omit<JsonEndpoint<Needs, Administrator, Query, Body, Says>, 'tag'>): Endpoint<Needs, Administrator> {
  return jsonEndpoint({ ...given, tag: 'Administration' })
}

function jsonEndpoint<Needs, Who, Query extends Schema, Body extends Schema, Says extends ContractSchema>(
  given: JsonEndpoint<Needs, Who, Query, Body, Says>,
): Endpoint<Needs, Who> {
  const { summary, description, tag, params, query, body, errors = [], status = 200 } = given
  return {
    documentation: {
      summary,
      ...(description === undefined ? {} : { description }),
      tag,
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body: { schema: body, type: 'application/json' } }),
      answers: { [status]: { description: 'Success', schema: given.answer } },
      errors,
    },
    async handle(call, parts, caller) {
      const input = {
        call,
        caller,
        params: call.params,
        query: parse(query, query === undefined ? undefined : firstValues(call.url.searchParams)),
        body: parse(body, body === undefined ? undefined : await readJsonBody(call)),
      }
      const result = await given.handle(input, parts)
      return result instanceof Response || result instanceof JsonAnswer
        ? result
        : new JsonAnswer(result, status)
    },
  }
}

/** Of a parameter that is given more than once the first counts, as in "URLSearchParams.get". */
export function firstValues(parameters: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...parameters].reverse())
}

function parse<S extends Schema>(schema: S | undefined, input: unknown): Output<S>
function parse(schema: Schema, input: unknown): unknown {
  if (schema === undefined) return undefined
  const result = schema.safeParse(input, { error: wrongValue })
  if (result.success) return result.data
  const [issue] = result.error.issues
  if (issue?.code === 'unrecognized_keys') throw unknownField([...issue.path, issue.keys[0]].join('.'))
  const field = issue?.path.join('.') ?? ''
  throw new Refusal(
    'INVALID_REQUEST',
    field === '' ? 'The body must be a JSON object' : `"${field}": ${issue?.message ?? 'invalid'}`,
  )
}
