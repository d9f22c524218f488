import * as z from 'zod/mini'
import { ERROR_CODES, STORAGE_REASONS } from '../domain/errors.ts'

export interface SchemaDocumentation {
  readonly component?: string
  readonly parent?: z.ZodMiniObject
  readonly description?: string
  readonly example?: unknown
  /** JSON Schema format, such as `date-time`; not checked by readers. */
  readonly format?: string
}

const documentations = new WeakMap<z.core.$ZodType, SchemaDocumentation>()

export function documentationOf(schema: z.core.$ZodType): SchemaDocumentation {
  return documentations.get(schema) ?? {}
}

export function described<Schema extends z.ZodMiniType>(schema: Schema, more: SchemaDocumentation): Schema {
  const copy = z.clone(schema)
  documentations.set(copy, { ...documentationOf(schema), ...more })
  return copy
}

export function component<Schema extends z.ZodMiniType>(name: string, schema: Schema): Schema {
  return described(schema, { component: name })
}

/** The document refers to the parent component instead of repeating its fields. */
export function extended<Parent extends z.ZodMiniObject, More extends z.core.$ZodLooseShape>(
  parent: Parent,
  more: More,
) {
  return described(z.extend(parent, more), { parent })
}

/** Readers ignore unknown fields. */

export const timestampField = described(z.string(), {
  format: 'date-time',
  example: '2026-01-31T12:00:00.000Z',
})

export const optionalTimestamp = z.nullable(timestampField)

/** A day in UTC. */
export const dayField = described(z.string(), { format: 'date' })

export const uuidField = described(z.string(), { format: 'uuid' })

export const sizeField = described(z.int(), { description: 'Bytes' })

export const pictureField = described(z.string(), {
  description:
    'A relative address: the thumbnail where there is or may be one, otherwise the icon of the type, which all files of a kind share and which may be cached for ever',
})

export const secondsField = described(z.int(), { description: 'Seconds' })

export const success = described(z.boolean(), { description: 'Whether all of the request was done' })

export const done = z.object({ success: z.literal(true) })
export type Done = z.infer<typeof done>

export const doneWithMessage = z.object({ success: z.literal(true), message: z.string() })

/** A key without the scope `read` gets only the message. */
export function changedAnswer<Says extends z.ZodMiniType>(answer: Says) {
  return z.union([answer, doneWithMessage])
}

export const pagination = component(
  'Pagination',
  z.object({ page: z.int(), per_page: z.int(), total: z.int(), pages: z.int() }),
)
export type Pagination = z.infer<typeof pagination>

export const boundedPagination = component(
  'BoundedPagination',
  extended(pagination, {
    total_exact: described(z.optional(z.boolean()), {
      description: 'With "totals=bounded": whether there are no more than "total"',
    }),
  }),
)

export function dataOf<Data extends z.ZodMiniType>(data: Data) {
  return z.object({ success: z.literal(true), data })
}

export function pageOf<Item extends z.ZodMiniType>(item: Item) {
  return z.object({ success: z.literal(true), data: z.array(item), pagination })
}

/** Paginated only if the request asked for pages. */
export function listOf<Item extends z.ZodMiniType>(item: Item) {
  return z.object({ success: z.literal(true), data: z.array(item), pagination: z.optional(pagination) })
}

/** `data` counts the entries and has the outcome of each. */
export function batchOf<Data extends z.ZodMiniType>(data: Data) {
  return z.object({ success, message: z.string(), data })
}

export const errorBody = component(
  'Error',
  z.object({
    success: z.literal(false),
    message: z.string(),
    error: z.enum(ERROR_CODES),
    reason: described(z.optional(z.enum(STORAGE_REASONS)), {
      description:
        'With STORAGE_UNAVAILABLE: no free space, none left for guests, or the store cannot be reached or denies access',
    }),
  }),
)
export type ErrorBody = z.infer<typeof errorBody>

/** Newer servers may have unknown codes and reasons. */
export const anyErrorBody = z.extend(errorBody, { error: z.string(), reason: z.optional(z.string()) })
