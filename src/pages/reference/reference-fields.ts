import type { ReferenceField, ReferenceType } from '../views.ts'
import type { ApiDocument, Schema } from './reference-schema.ts'

type Schemas = ApiDocument['components']['schemas']

const SCHEMAS = '#/components/schemas/'
/** Ends recursive schemas. */
const MAX_DEPTH = 8

function nameOf({ $ref }: Schema): string | null {
  return $ref?.startsWith(SCHEMAS) === true ? $ref.slice(SCHEMAS.length) : null
}

function resolved(schemas: Schemas, schema: Schema): Schema {
  const name = nameOf(schema)
  return (name === null ? undefined : schemas[name]) ?? schema
}

function whole(schemas: Schemas, schema: Schema): Schema {
  const own = resolved(schemas, schema)
  if (own.allOf === undefined) return own
  const parts = own.allOf.map((part) => whole(schemas, part))
  return {
    ...own,
    properties: Object.assign({}, ...parts.map(({ properties }) => properties), own.properties),
    required: [...parts.flatMap(({ required = [] }) => required), ...(own.required ?? [])],
  }
}

export function schemaFields(schemas: Schemas, schema: Schema): ReferenceField[] {
  const { properties, items, required = [] } = whole(schemas, schema)
  if (properties === undefined) return items === undefined ? [] : schemaFields(schemas, items)
  return Object.entries(properties).flatMap(([name, field]) => {
    const own: ReferenceField = {
      name,
      type: typeOf(schemas, field),
      isRequired: required.includes(name),
      description: field.description ?? '',
    }
    // Fields of a named schema are listed in its own section.
    const inner = nameOf(field) ?? nameOf(field.items ?? {})
    const below = inner === null ? schemaFields(schemas, field) : []
    const step = field.items === undefined ? name : `${name}[]`
    return [own, ...below.map((each) => ({ ...each, name: `${step}.${each.name}` }))]
  })
}

export function typeOf(schemas: Schemas, schema: Schema): ReferenceType {
  const name = nameOf(schema)
  if (name !== null) return { text: name, schema: name }
  const options = schema.oneOf ?? schema.anyOf
  if (options !== undefined) {
    const types = options.map((each) => typeOf(schemas, each))
    return {
      text: [...new Set(types.map(({ text }) => text))].join(' or '),
      schema: types.find((each) => each.schema !== null)?.schema ?? null,
    }
  }
  if (schema.items !== undefined) {
    const inner = typeOf(schemas, schema.items)
    return { ...inner, text: `array of ${inner.text}` }
  }
  if (schema.enum !== undefined) {
    return { text: schema.enum.map((value) => JSON.stringify(value)).join(' | '), schema: null }
  }
  const types = [schema.type ?? 'any'].flat()
  const format = schema.format === undefined ? '' : ` (${schema.format})`
  return { text: types.join(' or ') + format, schema: null }
}

export function exampleOf(schemas: Schemas, schema: Schema, depth = 0): unknown {
  const own = whole(schemas, schema)
  if (own.example !== undefined) return own.example
  if (own.enum !== undefined) return own.enum[0]
  if (depth > MAX_DEPTH) return null
  if (own.properties !== undefined) {
    const fields = Object.entries(own.properties)
    return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(schemas, field, depth + 1)]))
  }
  if (own.items !== undefined) return [exampleOf(schemas, own.items, depth + 1)]
  const [first] = own.oneOf ?? own.anyOf ?? []
  if (first !== undefined) return exampleOf(schemas, first, depth + 1)
  switch ([own.type].flat()[0]) {
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return 1
    case 'object':
      return {}
    default:
      return own.type === undefined ? null : 'text'
  }
}
