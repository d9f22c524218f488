import type { ReferenceOperation, ReferenceView } from '../views.ts'
import { exampleOf, schemaFields, typeOf } from './reference-fields.ts'
import { type ApiDocument, type DocumentOperation, documentSchema } from './reference-schema.ts'

const PAGES = 'Site'

const FORM = 'application/x-www-form-urlencoded'

let last: { readonly document: unknown; readonly view: ReferenceView } | null = null

/** Cached for the last document. */
export function referenceOf(document: unknown, publicUrl: string): ReferenceView {
  if (last !== null && last.document === document) return last.view
  const view = viewOf(documentSchema.parse(document), publicUrl)
  last = { document, view }
  return view
}

function viewOf(document: ApiDocument, publicUrl: string): ReferenceView {
  const { schemas } = document.components
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0] ?? '',
      shown: shown(document, { method: method.toUpperCase(), path, operation, publicUrl }),
    })),
  )
  const groups = [...Map.groupBy(operations, ({ tag }) => tag)]
    .map(([name, each]) => ({ name, operations: each.map(({ shown }) => shown) }))
    .sort((one, other) => Number(one.name === PAGES) - Number(other.name === PAGES))
  return {
    groups,
    schemas: Object.entries(schemas).map(([name, schema]) => ({
      name,
      fields: schemaFields(schemas, schema),
    })),
  }
}

interface Place {
  readonly method: string
  readonly path: string
  readonly operation: DocumentOperation
  readonly publicUrl: string
}

function shown({ components: { schemas } }: ApiDocument, place: Place): ReferenceOperation {
  const { method, path, operation } = place
  const [[type, { schema }] = ['', {}]] = Object.entries(operation.requestBody?.content ?? {})
  const answers = Object.entries(operation.responses).map(([status, answer]) => ({ status, ...answer }))
  const example = schema === undefined ? undefined : exampleOf(schemas, schema)
  return {
    id: `${method}${path}`
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replace(/-$/, ''),
    method,
    path,
    summary: operation.summary,
    description: operation.description,
    access: accessOf(operation),
    parameters: operation.parameters.map((parameter) => ({
      name: parameter.name,
      place: parameter.in,
      type: typeOf(schemas, parameter.schema),
      isRequired: parameter.required,
      description: parameter.description ?? '',
    })),
    body: type === '' ? null : { type, fields: schema === undefined ? [] : schemaFields(schemas, schema) },
    answers: answers
      .filter(({ status }) => Number(status) < 400)
      .map(({ status, description, content = {} }) => {
        const [[media, { schema: answered }] = ['', {}]] = Object.entries(content)
        return {
          status,
          description,
          type: media,
          fields: answered === undefined ? [] : schemaFields(schemas, answered),
          example:
            answered === undefined || media !== 'application/json'
              ? null
              : JSON.stringify(exampleOf(schemas, answered), null, 2),
        }
      }),
    errors: answers
      .filter(({ status }) => Number(status) >= 400)
      .map(({ status, description }) => ({ status, description })),
    curl: curlOf(place, type, example),
  }
}

function accessOf({ security }: DocumentOperation): string {
  const scopes = security.flatMap(({ key }) => key ?? [])
  const isKeyed = security.some(({ key }) => key !== undefined)
  const isOpen = security.length === 0 || security.some((each) => Object.keys(each).length === 0)
  if (!isKeyed) return isOpen ? 'No key needed' : 'Only for somebody who is signed in on the site'
  const key = scopes.length === 0 ? 'Any API key' : `API key with the scope “${scopes.join('”, “')}”`
  return isOpen ? `${key}, or none as a guest` : key
}

function curlOf({ method, path, operation, publicUrl }: Place, type: string, example: unknown): string {
  const isKeyed = operation.security.some(({ key }) => key !== undefined)
  const body: Record<string, string> = {
    'multipart/form-data': '-F file=@holiday.jpg',
    'application/json': `-H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(example ?? {}))}`,
    [FORM]: formFields(example)
      .map((field) => `--data-urlencode ${quoted(field)}`)
      .join(' \\\n  '),
  }
  // A form without fields: only its sending matters.
  if (type === FORM && formFields(example).length === 0) body[type] = "-d ''"
  const sent = type === '' ? null : (body[type] ?? `-H 'Content-Type: ${type}' --data-binary @holiday.jpg`)
  const parts = [
    method === 'GET' || (method === 'POST' && sent !== null)
      ? 'curl'
      : `curl ${method === 'HEAD' ? '-I' : `-X ${method}`}`,
    ...(isKeyed ? ['-H "Authorization: Bearer $HOLDFAST_KEY"'] : []),
    ...operation.parameters
      .filter(isSent(method))
      .map(({ name, schema }) => `-H ${quoted(`${name}: ${schema.example ?? schema.enum?.[0]}`)}`),
    ...(sent === null ? [] : [sent]),
    quoted(publicUrl + path.replaceAll(/\{(\w+)\}/g, '<$1>')),
  ]
  return parts.join(' \\\n  ')
}

/** Headers that an upload needs: its size, or that the size comes later. */
function isSent(method: string) {
  return ({ name, in: place, required }: DocumentOperation['parameters'][number]) =>
    place === 'header' && (required || (method === 'POST' && name === 'Upload-Length'))
}

function formFields(example: unknown): string[] {
  return Object.entries(example ?? {}).map(([name, value]) => `${name}=${value}`)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
