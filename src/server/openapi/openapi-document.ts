import { OpenAPIHono, z } from '@hono/zod-openapi'
import * as mini from 'zod/mini'
import { documentationOf, errorBody } from '../../contract/fields.ts'
import { openApiAnswer } from '../../contract/health.ts'
import { ERROR_CODES, ERROR_STATUSES } from '../../domain/errors.ts'
import { openEndpoint, TAGS } from '../endpoint.ts'
import { isForPeople, isOfApi, type Route } from '../router.ts'
import { addExamples, missingCode } from './openapi-examples.ts'

type Registered = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0]
type Answers = Registered['responses']

const meanings: Readonly<Record<number, string>> = {
  400: 'Missing or invalid parameters',
  401: 'Invalid or missing API key',
  403: 'Insufficient permissions',
  404: 'Resource does not exist',
  409: 'It is taken, or not where the request takes it to be',
  410: 'Gone for good',
  412: 'A condition of the request does not hold',
  413: 'Too large',
  415: 'Another type of body is needed',
  416: 'The range lies outside the file',
  422: 'Not what the same Idempotency-Key was used for before',
  423: 'Somebody else is writing, or joins it to another upload',
  429: 'Too many requests',
  460: 'The checksum does not match',
  500: 'Internal server error',
  503: 'Unavailable for now; try again after Retry-After',
}

export function openApiDocument(routes: readonly Route[], serverUrl: string, sessionCookie: string) {
  const app = new OpenAPIHono()
  app.openAPIRegistry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key. Beside it stands the scope that it needs; where none does, any key will do.',
  })
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: sessionCookie,
    description: 'Of a browser where somebody is signed in, and from pages of this site alone',
  })
  const nextId = operationIds()
  for (const route of routes) {
    app.openAPIRegistry.registerPath(registered(route, nextId))
    const { head } = route.documentation
    if (head === undefined) continue
    const documentation = { ...route.documentation, ...head }
    app.openAPIRegistry.registerPath(registered({ ...route, documentation }, nextId, 'head'))
  }
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version: '1',
      description: 'Put a file in, get a short link out. Errors carry a code from a closed list.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  })
  addExamples(document)
  return document
}

/** The summary as one word, numbered where an endpoint serves several paths. */
function operationIds(): (summary: string) => string {
  const taken = new Map<string, number>()
  return (summary) => {
    const words = summary
      .toLowerCase()
      .replaceAll(/[^a-z ]/g, '')
      .split(' ')
      .filter((word) => !['a', 'an', 'the'].includes(word))
    const id = words.map((word, at) => (at === 0 ? word : word[0]?.toUpperCase() + word.slice(1))).join('')
    const count = (taken.get(id) ?? 0) + 1
    taken.set(id, count)
    return count === 1 ? id : `${id}${count}`
  }
}

function registered(
  route: Route,
  nextId: (summary: string) => string,
  method: Registered['method'] = route.method,
): Registered {
  const { summary, description, tag, params, query, headers, body, answers, errors } = route.documentation
  const responses: Answers = {}
  for (const [status, answer] of Object.entries(answers)) {
    const { description, schema, headers, text, type = 'application/json' } = answer
    const plain = text === undefined ? {} : { 'text/plain': { schema: documentedSchema(text) } }
    responses[status] = {
      description,
      ...(headers === undefined ? {} : { headers }),
      ...(schema === undefined
        ? {}
        : { content: { [type]: { schema: documentedSchema(schema) }, ...plain } }),
    }
  }
  const ofKeys = route.auth === 'none' ? [] : [401, 403]
  const counted = route.auth !== 'none' || isOfApi(route.path) ? [429] : []
  for (const status of new Set([...errors, ...ofKeys, ...counted, 500, 503])) {
    responses[status] ??= method === 'head' ? { description: meaningOf(status) } : refusal(status, route)
  }
  return {
    method,
    path: route.path,
    summary,
    ...(description === undefined ? {} : { description }),
    operationId: nextId(summary),
    tags: [tag],
    security: securityOf(route),
    request: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined
        ? {}
        : { body: { required: true, content: { [body.type]: { schema: body.schema } } } }),
    },
    responses,
  }
}

/** OpenAPI 3.1 allows scopes with a bearer scheme. */
function securityOf(route: Route): Record<string, string[]>[] {
  const session = { session: [] }
  if (route.need === undefined) return route.auth === 'none' ? [] : [session]
  const key = { key: route.need === 'any' ? [] : [route.need] }
  return route.auth === 'key' ? [key, session] : [key, session, {}]
}

function meaningOf(status: number): string {
  return meanings[status] ?? 'Error'
}

function refusal(status: number, route: Route): Answers[number] {
  const description = meaningOf(status)
  const error =
    status === 404
      ? missingCode(route.method, route.path)
      : ERROR_CODES.find((code) => ERROR_STATUSES[code] === status)
  const example = { success: false, message: description, error }
  return {
    description,
    content: {
      'application/json': { schema: documentedSchema(errorBody), example },
      ...(isForPeople(route) ? { 'text/html': {} } : {}),
    },
  }
}

/** The contract uses Zod Mini, which has no metadata. */
function documentedSchema(schema: mini.core.$ZodType): z.ZodType {
  const { component, parent, ...about } = documentationOf(schema)
  const plain =
    parent === undefined || !(schema instanceof mini.ZodMiniObject)
      ? plainSchema(schema)
      : documentedObject(parent).extend(shapeOf(schema, parent))
  if (component !== undefined) return plain.openapi(component, about)
  return Object.keys(about).length === 0 ? plain : plain.openapi(about)
}

function documentedObject(schema: mini.ZodMiniObject): z.ZodObject {
  const documented = documentedSchema(schema)
  if (documented instanceof z.ZodObject) return documented
  throw new Error('only objects have fields to extend')
}

function shapeOf(schema: mini.ZodMiniObject, parent?: mini.ZodMiniObject): Record<string, z.ZodType> {
  const inherited: mini.core.$ZodShape = parent?.shape ?? {}
  const own = Object.entries<mini.core.$ZodType>(schema.shape).filter(
    ([name, field]) => inherited[name] !== field,
  )
  return Object.fromEntries(own.map(([name, field]) => [name, documentedSchema(field)]))
}

function plainSchema(schema: mini.core.$ZodType): z.ZodType {
  if (schema instanceof mini.ZodMiniObject) {
    const shape = shapeOf(schema)
    return schema.def.catchall === undefined ? z.object(shape) : z.looseObject(shape)
  }
  if (schema instanceof mini.ZodMiniNumberFormat) return z.number().int()
  if (schema instanceof mini.ZodMiniString) return z.string()
  if (schema instanceof mini.ZodMiniBoolean) return z.boolean()
  if (schema instanceof mini.ZodMiniUnknown) return z.unknown()
  if (schema instanceof mini.ZodMiniLiteral) return z.literal(schema.def.values)
  if (schema instanceof mini.ZodMiniEnum) return z.enum(schema.def.entries)
  if (schema instanceof mini.ZodMiniArray) return z.array(documentedSchema(schema.def.element))
  if (schema instanceof mini.ZodMiniNullable) return documentedSchema(schema.def.innerType).nullable()
  if (schema instanceof mini.ZodMiniOptional) return documentedSchema(schema.def.innerType).optional()
  if (schema instanceof mini.ZodMiniUnion) return z.union(schema.def.options.map(documentedSchema))
  if (schema instanceof mini.ZodMiniRecord) {
    return z.record(z.string(), documentedSchema(schema.def.valueType))
  }
  throw new Error(`the OpenAPI document has no form for ${schema._zod.def.type}`)
}

export const getOpenApiEndpoint = openEndpoint({
  summary: 'Get the OpenAPI document',
  tag: 'Health',
  answer: openApiAnswer,
  async handle({ call }) {
    return call.site.openApiAnswer()
  },
})
