/** Validates answers against a server's OpenAPI document. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { z } from 'zod'
import type { TestHoldfast } from '../servers/holdfast.ts'

const operationShape = z.looseObject({
  responses: z.record(z.string(), z.looseObject({})),
  tags: z.array(z.string()),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
})
const documentShape = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.record(z.string(), operationShape)),
  components: z
    .looseObject({ securitySchemes: z.record(z.string(), z.looseObject({})).optional() })
    .optional(),
})
const responseShape = z.looseObject({
  $ref: z.string().optional(),
  content: z.record(z.string(), z.looseObject({ schema: z.looseObject({}).optional() })).optional(),
})
export type OpenApi = z.infer<typeof documentShape>
export type Operation = z.infer<typeof operationShape>

/** A running server. */
type At = Pick<TestHoldfast, 'url'>

const documents = new Map<string, Promise<OpenApi>>()

/** The server's document, fetched once. */
export function openApi(holdfast: At): Promise<OpenApi> {
  const known = documents.get(holdfast.url)
  if (known !== undefined) return known
  const fetched = fetch(`${holdfast.url}/api/v1/openapi.json`)
    .then((response) => response.json())
    .then((json) => documentShape.parse(json))
  documents.set(holdfast.url, fetched)
  // Another server may start at that address.
  fetched.catch(() => documents.delete(holdfast.url))
  return fetched
}

/** The operation that documents a request; a path without parameters takes precedence. */
export function findOperation(document: OpenApi, method: string, path: string): Operation | undefined {
  const templates = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length)
  const template = templates.find((each) =>
    new RegExp(`^${each.replace(/\./g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path),
  )
  return template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()]
}

/** JSON schema for this status; null when no JSON body is documented. */
export function responseSchema(document: OpenApi, operation: Operation, status: number): object | null {
  return bodiesOf(document, operation, status)['application/json']?.schema ?? null
}

/** Documented bodies of this status by media type. Throws for an undocumented status. */
function bodiesOf(document: OpenApi, operation: Operation, status: number) {
  const entry = operation.responses[status] ?? operation.responses[`${Math.floor(status / 100)}XX`]
  if (entry === undefined) throw new Error(`status ${status} is not documented`)
  let response = responseShape.parse(entry)
  if (response.$ref !== undefined) response = responseShape.parse(resolve(document, response.$ref))
  return response.content ?? {}
}

function resolve(document: OpenApi, reference: string): unknown {
  let value: unknown = document
  for (const step of reference.replace(/^#\//, '').split('/')) {
    value = z.record(z.string(), z.unknown()).parse(value)[step.replace(/~1/g, '/').replace(/~0/g, '~')]
  }
  return value
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats(ajv)

/** Compiles a schema of the document. Throws when it is not valid JSON Schema 2020-12. */
export function compile(document: OpenApi, schema: object): ValidateFunction {
  // References start at the document's root, which therefore has to contain the components.
  return ajv.compile({ components: document.components, allOf: [schema] })
}

const validators = new WeakMap<Operation, Map<number, ValidateFunction | null>>()

/** Validator for the bodies of this status; null when no JSON body is documented. */
function validatorOf(document: OpenApi, operation: Operation, status: number): ValidateFunction | null {
  const ofOperation = validators.get(operation) ?? new Map<number, ValidateFunction | null>()
  validators.set(operation, ofOperation)
  const known = ofOperation.get(status)
  if (known !== undefined) return known
  const schema = responseSchema(document, operation, status)
  const validate = schema === null ? null : compile(document, schema)
  ofOperation.set(status, validate)
  return validate
}

/** Validates an answer against the document. Unknown operations are ignored. */
export async function checkDocumented(
  holdfast: At,
  method: string,
  path: string,
  answer: { readonly status: number; readonly body: unknown; readonly isJson: boolean },
): Promise<void> {
  const document = await openApi(holdfast)
  const operation = findOperation(document, method, path.split('?')[0] ?? path)
  if (operation === undefined) return
  const call = `${method} ${path} answered ${answer.status}`
  let validate: ValidateFunction | null
  try {
    validate = validatorOf(document, operation, answer.status)
  } catch (cause) {
    throw new Error(`${call}, for which the OpenAPI document has no schema`, { cause })
  }
  const types = Object.keys(bodiesOf(document, operation, answer.status))
  // Some answers exist as HTML for people besides JSON for programs.
  const isKnown = answer.isJson || validate === null || types.some((type) => type !== 'application/json')
  if (!isKnown || (answer.isJson && validate === null))
    throw new Error(`${call}, and the document disagrees on it being JSON`)
  if (answer.isJson && validate !== null && !validate(answer.body)) {
    throw new Error(
      `${call}, against its schema: ${Bun.inspect(validate.errors)} ${Bun.inspect(answer.body)}`,
    )
  }
}

/** Validates a response whose body is left unread. */
export async function checkResponse(
  holdfast: At,
  method: string,
  path: string,
  response: Response,
): Promise<void> {
  if (method === 'HEAD') return
  const { status, headers } = response
  // Other bodies may be very long.
  const text = headers.get('content-type')?.startsWith('application/json')
    ? await response.clone().text()
    : ''
  const isJson = text !== ''
  await checkDocumented(holdfast, method, path, { status, isJson, body: isJson ? JSON.parse(text) : null })
}
