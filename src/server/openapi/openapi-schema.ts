import { z } from '@hono/zod-openapi'
import * as mini from 'zod/mini'
import { documentationOf } from '../../contract/documentation.ts'

/** The contract uses Zod Mini, which has no metadata. */
export function documentedSchema(schema: mini.core.$ZodType): z.ZodType {
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
