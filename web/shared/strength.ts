import { gradeOf, SHORTEST, STRONG_ENOUGH } from '../../src/domain/password-grade.ts'

/** How good a password is, as it is shown while it is typed. Those from `good` on are taken. */
export type Strength = 'short' | 'weak' | 'nearly' | 'good' | 'strong'

export type StrengthTexts = Readonly<Record<Strength, string>>

/** How many of the four parts of the meter are filled. */
export const fillingOf = { short: 1, weak: 1, nearly: 2, good: 3, strong: 4 } as const satisfies Record<
  Strength,
  number
>

/** How long nothing is typed before it is judged. */
export const PAUSE = 250

/** `known`: what everybody knows of its owner. Null for no password, or where the words to compare with are out of reach. */
export async function strengthOf(password: string, known: readonly string[]): Promise<Strength | null> {
  if (password === '') return null
  if (password.length < SHORTEST) return 'short'
  const grade = await gradeOf(password, known).catch(() => null)
  if (grade === null) return null
  if (grade >= STRONG_ENOUGH) return grade > STRONG_ENOUGH ? 'strong' : 'good'
  return grade === STRONG_ENOUGH - 1 ? 'nearly' : 'weak'
}
