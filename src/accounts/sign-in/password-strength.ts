import { Refusal } from '../../domain/errors.ts'
import { gradeOf, LONGEST_PASSWORD, SHORTEST_PASSWORD, STRONG_ENOUGH } from '../../domain/password-grade.ts'

/** Throws Refusal WEAK_PASSWORD. `known`: facts about its owner that an attacker would try first. */
export async function assertStrong(password: string, known: readonly string[]): Promise<void> {
  if (password.length < SHORTEST_PASSWORD || password.length > LONGEST_PASSWORD) {
    throw new Refusal(
      'WEAK_PASSWORD',
      `A password has ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters`,
    )
  }
  // Lone surrogates would all be hashed as U+FFFD.
  if (!password.isWellFormed()) throw new Refusal('WEAK_PASSWORD', 'A password must be valid Unicode')
  if ((await gradeOf(password, known)) < STRONG_ENOUGH) {
    throw new Refusal(
      'WEAK_PASSWORD',
      'This password is easy to guess; add a few words to it, or use another',
    )
  }
}
