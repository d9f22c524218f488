import * as z from 'zod/mini'
import { ERROR_CODES, STORAGE_REASONS } from '../domain/errors.ts'
import { component, described } from './documentation.ts'

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
