import * as z from 'zod/mini'

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
