/**
 * What an OpenAPI document takes away from programs that were written against an earlier one: an operation, a parameter,
 * a value that it took, a field that it answered. What is added breaks nobody, unless a request must bring it.
 */
import * as z from 'zod'

const schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  additionalProperties: z.unknown().optional(),
  allOf: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
})
type Schema = z.infer<typeof schema>

const content = z.record(z.string(), z.object({ schema: z.unknown().optional() }))
const operation = z.object({
  operationId: z.string(),
  parameters: z
    .array(
      z.object({ name: z.string(), in: z.string(), required: z.boolean().optional(), schema: z.unknown() }),
    )
    .default([]),
  requestBody: z.object({ required: z.boolean().optional(), content }).optional(),
  responses: z.record(z.string(), z.object({ content: content.optional() })),
})
const document = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
})
export type Document = z.infer<typeof document>

/** Who sends what the schema describes: a program must still be understood, and must still understand. */
type Direction = 'request' | 'answer'

/** One line for each thing that the later document takes away; empty where programs go on as they are. */
export function broken(earlier: unknown, later: unknown): string[] {
  return new Comparison(document.parse(earlier), document.parse(later)).run()
}

class Comparison {
  readonly #before: Document
  readonly #after: Document
  readonly #found: string[] = []
  /** Pairs of named schemas that are or were compared: schemas may hold themselves. */
  readonly #seen = new Set<string>()

  constructor(before: Document, after: Document) {
    this.#before = before
    this.#after = after
  }

  run(): string[] {
    for (const [path, methods] of Object.entries(this.#before.paths)) {
      for (const [method, before] of Object.entries(methods)) {
        const after = this.#after.paths[path]?.[method]
        const name = `${method.toUpperCase()} ${path}`
        if (after === undefined) this.#found.push(`${name}: is gone`)
        else this.#operation(name, operation.parse(before), operation.parse(after))
      }
    }
    return this.#found
  }

  #operation(name: string, before: z.infer<typeof operation>, after: z.infer<typeof operation>): void {
    if (before.operationId !== after.operationId) this.#found.push(`${name}: is called ${after.operationId}`)
    for (const old of before.parameters) {
      const now = after.parameters.find((each) => each.name === old.name && each.in === old.in)
      if (now === undefined) this.#found.push(`${name}: takes no ${old.name}`)
      else this.#schema(`${name} ${old.name}`, old.schema, now.schema, 'request')
    }
    for (const now of after.parameters) {
      const old = before.parameters.find((each) => each.name === now.name && each.in === now.in)
      if (now.required === true && old?.required !== true) this.#found.push(`${name}: must have ${now.name}`)
    }
    const [sent, taken] = [before.requestBody, after.requestBody]
    if (taken?.required === true && sent?.required !== true) this.#found.push(`${name}: must have a body`)
    this.#content(`${name} body`, sent?.content ?? {}, taken?.content ?? {}, 'request')
    for (const [status, old] of Object.entries(before.responses)) {
      const now = after.responses[status]
      if (now === undefined) this.#found.push(`${name}: never answers ${status}`)
      else this.#content(`${name} ${status}`, old.content ?? {}, now.content ?? {}, 'answer')
    }
  }

  #content(
    name: string,
    before: z.infer<typeof content>,
    after: z.infer<typeof content>,
    direction: Direction,
  ): void {
    for (const [type, old] of Object.entries(before)) {
      const now = after[type]
      if (now === undefined) this.#found.push(`${name}: is no ${type}`)
      else this.#schema(name, old.schema, now.schema, direction)
    }
  }

  #schema(name: string, before: unknown, after: unknown, direction: Direction): void {
    const [old, now] = [schema.parse(before ?? {}), schema.parse(after ?? {})]
    if (old.$ref !== undefined || now.$ref !== undefined) {
      const pair = `${direction} ${old.$ref ?? name} ${now.$ref ?? name}`
      if (this.#seen.has(pair)) return
      this.#seen.add(pair)
      const [named, nowNamed] = [resolved(this.#before, old), resolved(this.#after, now)]
      this.#schema(name, named, nowNamed, direction)
      return
    }
    this.#values(name, old, now, direction)
    this.#fields(name, old, now, direction)
    if (old.items !== undefined) this.#schema(`${name}[]`, old.items, now.items, direction)
    for (const choice of ['allOf', 'anyOf', 'oneOf'] as const) {
      for (const [at, each] of (old[choice] ?? []).entries()) {
        const other = now[choice]?.[at]
        if (other === undefined) this.#found.push(`${name}: lacks a choice`)
        else this.#schema(name, each, other, direction)
      }
    }
  }

  #values(name: string, old: Schema, now: Schema, direction: Direction): void {
    const [oldTypes, types] = [typesOf(old), typesOf(now)]
    const [given, taken] = direction === 'request' ? [oldTypes, types] : [types, oldTypes]
    if (taken.length > 0 && !given.every((type) => taken.includes(type)))
      this.#found.push(`${name}: was ${oldTypes.join(' or ')}, is ${types.join(' or ') || 'anything'}`)
    if (direction === 'answer') return
    if (now.enum !== undefined && !(old.enum ?? [null]).every((value) => now.enum?.includes(value)))
      this.#found.push(`${name}: takes fewer values`)
    for (const limit of ['maximum', 'maxLength', 'maxItems'] as const) {
      if ((now[limit] ?? Infinity) < (old[limit] ?? Infinity))
        this.#found.push(`${name}: has a lower ${limit}`)
    }
    for (const limit of ['minimum', 'minLength', 'minItems'] as const) {
      if ((now[limit] ?? -Infinity) > (old[limit] ?? -Infinity))
        this.#found.push(`${name}: has a higher ${limit}`)
    }
  }

  #fields(name: string, old: Schema, now: Schema, direction: Direction): void {
    const lost = (field: string) => now.properties?.[field] === undefined && !takesAny(now)
    for (const [field, value] of Object.entries(old.properties ?? {})) {
      if (lost(field)) this.#found.push(`${name}: has no ${field}`)
      else this.#schema(`${name}.${field}`, value, now.properties?.[field], direction)
    }
    const [must, may] = direction === 'request' ? [now, old] : [old, now]
    for (const field of must.required ?? []) {
      if (may.required?.includes(field) !== true)
        this.#found.push(`${name}: ${direction === 'request' ? 'must have' : 'may lack'} ${field}`)
    }
  }
}

function resolved(document: Document, { $ref, ...own }: Schema): unknown {
  if ($ref === undefined) return own
  const name = $ref.slice('#/components/schemas/'.length)
  const found = document.components.schemas[name]
  if (found === undefined) throw new Error(`there is no ${$ref}`)
  return found
}

function typesOf({ type }: Schema): readonly string[] {
  return typeof type === 'string' ? [type] : (type ?? [])
}

function takesAny({ additionalProperties, type, properties }: Schema): boolean {
  return (type === undefined && properties === undefined) || additionalProperties instanceof Object
}
