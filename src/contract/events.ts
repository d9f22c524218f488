import * as z from 'zod/mini'
import { changeKinds } from '../domain/change.ts'
import { EVENT_KINDS } from '../domain/link-event.ts'
import { component, described } from './documentation.ts'
import { timestampField } from './fields.ts'
import { linkEvent } from './links.ts'

const change = component(
  'Change',
  z.object({
    kind: z.enum(changeKinds),
    file: described(z.optional(z.int()), { description: 'The number of the file' }),
    folder: described(z.optional(z.string()), { description: 'The identifier of the folder' }),
    place: described(z.optional(z.string()), {
      description: 'The folder it is in, or was in until now; "root" for the top level',
    }),
    from: described(z.optional(z.string()), { description: 'The folder it was moved from' }),
  }),
)
export type ChangeEvent = z.infer<typeof change>

const accountEvent = component(
  'AccountEvent',
  z.object({
    kind: described(z.enum(EVENT_KINDS), { example: 'link.arrived' }),
    at: timestampField,
    link: described(z.nullable(z.string()), { description: 'Its slug; null for what is not about a link' }),
    ...z.pick(linkEvent, { file: true, bytes: true, times: true, reason: true, address: true }).shape,
  }),
)
export type AccountEvent = z.infer<typeof accountEvent>

export const streamedEvent = z.union([change, accountEvent])
