import { z } from '@hono/zod-openapi'
import * as mini from 'zod/mini'
import { described } from '../contract/fields.ts'
import type { AccountCaller, Caller, SessionCaller } from '../core/callers.ts'
import type { Administrator } from '../domain/audit.ts'
import { Refusal } from '../domain/errors.ts'
import { JsonAnswer } from './answers/answers.ts'
import type { Call } from './call.ts'
import { readJsonBody } from './requests/body.ts'
import { unknownField } from './requests/fields.ts'

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

export interface Documentation {
  /** Title, and operation name in generated clients. */
  readonly summary: string
  readonly description?: string
  readonly tag: Tag
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly body?: { readonly schema: z.ZodType; readonly type: string }
  readonly answers: Readonly<Record<number, EndpointAnswer>>
  /** Besides those common to the kind of route. */
  readonly errors: readonly number[]
  /** Of a GET whose HEAD differs. */
  readonly head?: Pick<Documentation, 'summary' | 'description' | 'headers' | 'answers'>
}

export interface EndpointAnswer {
  readonly description: string
  readonly schema?: ContractSchema
  readonly type?: string
  readonly text?: ContractSchema
  readonly headers?: z.ZodObject
}

type ContractSchema = mini.ZodMiniType

const binary = described(mini.string(), { format: 'binary' })

export function bytesOf(type: string, description: string): EndpointAnswer {
  return { description, type, schema: binary }
}

export const fileField = z.string().openapi({ type: 'string', format: 'binary' })

export function bodyOfBytes(type: string): NonNullable<Documentation['body']> {
  return { type, schema: fileField }
}

/** Its row in `routes.ts` adds path, access and body limit. `Needs`: capabilities used; `Who`: required caller. */
export interface Endpoint<Needs, Who> {
  readonly documentation: Documentation
  /** With the row, decides how the listener serves it. */
  readonly streams?: 'out'
  /** Also on responses to unsupported methods of the path. */
  readonly always?: Readonly<Record<string, string>>
  readonly handle: (call: Call, modules: Needs, caller: Who) => Promise<Response | JsonAnswer>
  /** Handles the rest of a refused request. */
  readonly refused?: (call: Call, refusal: Refusal) => Promise<void>
}

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

type Sent<Said> = Said extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : Said extends object
    ? { readonly [Field in keyof Said]: Sent<Said[Field]> }
    : Said

/** Keeps the literal `true` in `{ success: true }`, which inference would widen to boolean. */
interface LiteralSuccess {
  readonly success?: boolean
}

interface JsonEndpoint<Needs, Who, Query, Body, Says extends ContractSchema> {
  readonly summary: string
  readonly description?: string
  readonly tag: Documentation['tag']
  readonly params?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly query?: Query
  readonly body?: Body
  readonly answer: Says
  readonly status?: 200 | 201
  /** Besides `answer`: by another status, which `handle` gives with a JsonAnswer. */
  readonly also?: Documentation['answers']
  readonly errors?: readonly number[]
  /** Sent as JSON unless a Response. */
  readonly handle: (
    input: JsonInput<Who, Query, Body>,
    modules: Needs,
  ) => Promise<(Sent<mini.output<Says>> & LiteralSuccess) | Response | JsonAnswer>
}

type Schema = z.ZodObject | undefined

type EndpointMaker<Who> = <
  Needs,
  Says extends ContractSchema,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
>(
  given: JsonEndpoint<Needs, Who, Query, Body, Says>,
) => Endpoint<Needs, Who>

export const keyedEndpoint: EndpointMaker<AccountCaller> = jsonEndpoint

export const sessionEndpoint: EndpointMaker<SessionCaller> = jsonEndpoint

export const openEndpoint: EndpointMaker<unknown> = jsonEndpoint

/** For guests, and keys of accounts. */
export const guestEndpoint: EndpointMaker<Caller> = jsonEndpoint

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
  const { summary, description, tag, params, headers, query, body, errors = [], status = 200 } = given
  return {
    documentation: {
      summary,
      ...(description === undefined ? {} : { description }),
      tag,
      ...(params === undefined ? {} : { params }),
      ...(headers === undefined ? {} : { headers }),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body: { schema: body, type: 'application/json' } }),
      answers: { ...given.also, [status]: { description: 'Success', schema: given.answer } },
      errors,
    },
    async handle(call, modules, caller) {
      const input = {
        call,
        caller,
        params: call.params,
        query: parse(query, query === undefined ? undefined : firstValues(call.url.searchParams)),
        body: parse(body, body === undefined ? undefined : await readJsonBody(call)),
      }
      const result = await given.handle(input, modules)
      return result instanceof Response || result instanceof JsonAnswer
        ? result
        : new JsonAnswer(result, status)
    },
  }
}

/** First value of a repeated parameter, like "URLSearchParams.get". */
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

type Issue = z.core.$ZodRawIssue

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

/** For schemas without their own message; continues after the field's name. */
function wrongValue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${TYPES[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${listed(issue.values)}`
    case 'too_small':
      return tooSmall(issue.origin, Number(issue.minimum))
    case 'too_big':
      return tooBig(issue.origin, Number(issue.maximum))
    default:
      return 'is not valid'
  }
}

function tooSmall(of: string, least: number): string {
  if (of === 'string') return least === 1 ? 'must not be empty' : `must have ${least} characters at least`
  return of === 'array' ? `must hold ${least} at least` : `must be ${least} or more`
}

function tooBig(of: string, most: number): string {
  if (of === 'string') return `may have ${most} characters at most`
  return of === 'array' ? `may hold ${most} at most` : `must be ${most} or less`
}

function listed(values: readonly unknown[]): string {
  const words = values.map((value) => JSON.stringify(value))
  const last = words.pop() ?? ''
  return words.length === 0 ? last : `${words.join(', ')} or ${last}`
}
