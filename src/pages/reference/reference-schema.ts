import { z } from '@hono/zod-openapi'

export interface Schema {
  readonly $ref?: string | undefined
  readonly type?: string | readonly string[] | undefined
  readonly format?: string | undefined
  readonly enum?: readonly unknown[] | undefined
  readonly items?: Schema | undefined
  readonly properties?: Readonly<Record<string, Schema>> | undefined
  readonly required?: readonly string[] | undefined
  readonly description?: string | undefined
  readonly example?: unknown
  readonly allOf?: readonly Schema[] | undefined
  readonly anyOf?: readonly Schema[] | undefined
  readonly oneOf?: readonly Schema[] | undefined
}

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    format: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    items: schema.optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
    description: z.string().optional(),
    example: z.unknown().optional(),
    allOf: z.array(schema).optional(),
    anyOf: z.array(schema).optional(),
    oneOf: z.array(schema).optional(),
  }),
)

const content = z.record(z.string(), z.object({ schema: schema.optional(), example: z.unknown().optional() }))

const operation = z.object({
  summary: z.string().default(''),
  description: z.string().default(''),
  tags: z.array(z.string()).default([]),
  security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.string(),
        required: z.boolean().default(false),
        description: z.string().optional(),
        schema,
      }),
    )
    .default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(
    z.string(),
    z.object({ description: z.string().default(''), content: content.optional() }),
  ),
})
export type DocumentOperation = z.infer<typeof operation>

export const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), schema).default({}) }),
})
export type ApiDocument = z.infer<typeof documentSchema>
