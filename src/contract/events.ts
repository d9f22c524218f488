import * as z from 'zod/mini'
import { changeKinds } from '../domain/change.ts'
import { component, described } from './documentation.ts'

/** The data of an event `change`. */
export const change = component(
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
