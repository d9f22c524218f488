import * as z from 'zod/mini'

/** What the OpenAPI document says of a schema besides its shape. */
export interface SchemaDocumentation {
  /** The name of the schema among the document's components. */
  readonly component?: string
  /** The component whose fields the schema has besides its own. */
  readonly parent?: z.ZodMiniObject
  readonly description?: string
  readonly example?: unknown
  /** A format of JSON Schema, such as `date-time`. Readers do not check it. */
  readonly format?: string
}

const documentations = new WeakMap<z.core.$ZodType, SchemaDocumentation>()

export function documentationOf(schema: z.core.$ZodType): SchemaDocumentation {
  return documentations.get(schema) ?? {}
}

/** The same schema with more documentation; the one given stays as it is. */
export function described<Schema extends z.ZodMiniType>(schema: Schema, more: SchemaDocumentation): Schema {
  const copy = z.clone(schema)
  documentations.set(copy, { ...documentationOf(schema), ...more })
  return copy
}

/** A component of the OpenAPI document. */
export function component<Schema extends z.ZodMiniType>(name: string, schema: Schema): Schema {
  return described(schema, { component: name })
}

/** A component's fields and more. The document refers to the component instead of repeating its fields. */
export function extended<Parent extends z.ZodMiniObject, More extends z.core.$ZodLooseShape>(
  parent: Parent,
  more: More,
) {
  return described(z.extend(parent, more), { parent })
}
