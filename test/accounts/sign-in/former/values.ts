/** The secrets of the people in `rows.sql`, who are kept there as better-auth has kept them. */
import { join } from 'node:path'
import { z } from 'zod'

/** Where the installation was. */
export const PUBLIC = 'http://files.example.org'

const cookies = z.array(z.tuple([z.string(), z.string()]))

const formerValues = z.object({
  /** Milliseconds since the epoch. */
  madeAt: z.number(),
  /** Everybody's, but for who comes from another server. */
  password: z.string(),
  /** Has a password and a session. */
  anna: z.object({ cookies }),
  /** Has codes besides. */
  bert: z.object({
    secret: z.string(),
    recoveryCodes: z.array(z.string()),
    usedUp: z.string(),
    cookies,
  }),
  /** Has passkeys. */
  carla: z.object({
    passkeys: z.array(z.object({ id: z.string(), privateKey: z.string(), counter: z.number() })),
  }),
  /** Comes from another server. */
  dora: z.object({ subject: z.string(), cookies }),
  /** Has begun to set codes up. */
  emil: z.object({ secret: z.string(), cookies }),
})

export type FormerValues = z.infer<typeof formerValues>

export async function formerValuesKept(): Promise<FormerValues> {
  return formerValues.parse(await Bun.file(join(import.meta.dir, 'values.json')).json())
}

/** One statement a line. */
export async function formerRows(): Promise<string[]> {
  const text = await Bun.file(join(import.meta.dir, 'rows.sql')).text()
  return text.trim().split('\n')
}
