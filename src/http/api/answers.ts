import { z } from '@hono/zod-openapi'

/** The answer of what has nothing to tell but that it is done. */
export const done = z.object({ success: z.literal(true) })

/** The number of a row in a path. */
export const rowId = z
  .string()
  .regex(/^\d{1,15}$/)
  .openapi({ example: '42' })

/** What is no number is no row's. */
export function rowNumber(text: string | undefined): number {
  return /^\d{1,15}$/.test(text ?? '') ? Number(text) : 0
}

/** Who makes sure that it is them: the password of the account, or nothing for who has none. */
export const presentPassword = z.string('must be the password of your account').max(1000).nullish().openapi({
  description: 'The present password; not needed within ten minutes of the last proof that it is you',
})
