import { OpenAPIHono, type z } from '@hono/zod-openapi'
import { errorBody } from './api/fields.ts'
import type { Route } from './route.ts'

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
  423: 'Somebody else is writing',
  429: 'Too many requests',
  460: 'The checksum does not match',
  500: 'Internal server error',
  503: 'Unavailable for now; try again after Retry-After',
}

/** The OpenAPI document, from the same schemas that the routes parse and answer by. */
export function openApiDocument(routes: readonly Route[], serverUrl: string) {
  const app = new OpenAPIHono()
  app.openAPIRegistry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key',
  })
  for (const route of routes) app.openAPIRegistry.registerPath(registered(route))
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version: '1',
      description: 'Put a file in, get a short link out. Errors carry a code from a closed list.',
    },
    servers: [{ url: serverUrl }],
  })
}

function registered(route: Route): Registered {
  const { summary, tag, params, query, headers, body, answers, errors } = route.documentation
  const responses: Answers = {}
  for (const [status, { description, schema, type = JSON_TYPE }] of Object.entries(answers)) {
    responses[status] =
      schema === undefined ? { description } : { description, content: { [type]: { schema } } }
  }
  const always = route.auth === 'none' ? [500, 503] : [401, 403, 429, 500, 503]
  for (const status of new Set([...errors, ...always])) {
    responses[status] ??= { description: meanings[status] ?? 'Error', ...json(errorBody) }
  }
  return {
    method: route.method,
    path: route.path,
    summary,
    tags: [tag],
    security: { key: [{ key: [] }], optional: [{ key: [] }, {}], none: [] }[route.auth],
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

const JSON_TYPE = 'application/json'

function json(schema: z.ZodType) {
  return { content: { [JSON_TYPE]: { schema } } }
}
