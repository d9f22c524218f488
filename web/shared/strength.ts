import { gradeOf, SHORTEST_PASSWORD, STRONG_ENOUGH } from '../../src/domain/password-grade.ts'

/** `good` and better are accepted. */
export type Strength = 'short' | 'weak' | 'nearly' | 'good' | 'strong'

export type StrengthTexts = Readonly<Record<Strength, string>>

export const fillingOf = { short: 1, weak: 1, nearly: 2, good: 3, strong: 4 } as const satisfies Record<
  Strength,
  number
>

/** Milliseconds without input before the password is graded. */
export const PAUSE = 250

/** `known`: facts about its owner that an attacker would try first. Null also without dictionaries. */
export async function strengthOf(password: string, known: readonly string[]): Promise<Strength | null> {
  if (password === '') return null
  if (password.length < SHORTEST_PASSWORD) return 'short'
  const grade = await gradeOf(password, known).catch(() => null)
  if (grade === null) return null
  if (grade >= STRONG_ENOUGH) return grade > STRONG_ENOUGH ? 'strong' : 'good'
  return grade === STRONG_ENOUGH - 1 ? 'nearly' : 'weak'
}
