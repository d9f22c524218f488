/** What `holdfast doctor --json` finds. */
import { expect } from 'bun:test'
import * as z from 'zod'
import { holdfast } from '../cli/command.ts'

export const diagnosis = z.object({
  sound: z.boolean(),
  findings: z.array(
    z.object({
      check: z.string(),
      level: z.enum(['ok', 'advice', 'problem', 'unknown']),
      what: z.string(),
      why: z.string(),
      changes: z.array(z.object({ where: z.string(), line: z.string() })),
    }),
  ),
})

export type Finding = z.infer<typeof diagnosis>['findings'][number]

/** Without the wait for a proxy's time-out, unless the words ask for it. */
export async function examined(
  folder: string,
  settings: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<Finding[]> {
  const command = ['doctor', '--json', '--silence', '0', ...words]
  const { code, output, errors } = await holdfast(folder, command, settings)
  expect(errors).toBe('')
  const { sound, findings } = diagnosis.parse(JSON.parse(output))
  expect(code).toBe(sound ? 0 : 3)
  return findings
}
