import * as z from 'zod/mini'
import { ERROR_CODES, STORAGE_REASONS } from '../domain/errors.ts'
import { component, described } from './documentation.ts'

/** The answer to a request that was refused. */
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

/** An error as clients read it: a newer server may have codes and reasons that they do not know. */
export const anyErrorBody = z.extend(errorBody, { error: z.string(), reason: z.optional(z.string()) })
