/** Limits for the length of a password, in characters. */
export const SHORTEST_PASSWORD = 8
export const LONGEST_PASSWORD = 256

/** Characters of a password for something that is shared. */
export const LONGEST_SHARED_PASSWORD = 128

/** The fourth of zxcvbn's five grades: more than 10⁸ guesses, given common passwords and their variations. */
export const STRONG_ENOUGH = 3

/**
 * Number of characters that are graded. More could only raise the grade, and the cost is quadratic: within
 * these bounds it is about 30 ms at most, on the event loop.
 */
const GRADED_CHARACTERS = 48

/**
 * Number of substitutions (digits and signs read as letters) that zxcvbn tries, for short passwords and for
 * long ones.
 */
const SHORT = 16
const SUBSTITUTIONS_OF_SHORT = 100
const SUBSTITUTIONS_OF_LONG = 8

/**
 * Strength of a password from 0 to 4. `known`: facts about its owner that an attacker would try first. The
 * dictionaries are loaded when first needed; rejects when they cannot be loaded.
 */
export async function gradeOf(password: string, known: readonly string[]): Promise<number> {
  loading ??= loadGrader()
  loading.catch(() => {
    loading = null
  })
  const zxcvbn = await loading
  return zxcvbn(password.slice(0, GRADED_CHARACTERS), [...known, 'holdfast']).score
}

type Grader = (password: string, known: string[]) => { readonly score: number }

let loading: Promise<Grader> | null = null

/** Loaded on demand: they are large, and most servers and pages never need them. */
async function loadGrader(): Promise<Grader> {
  const [{ zxcvbn, zxcvbnOptions }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  zxcvbnOptions.setOptions({ dictionary, graphs: adjacencyGraphs })
  return (password, known) => {
    zxcvbnOptions.l33tMaxSubstitutions =
      password.length > SHORT ? SUBSTITUTIONS_OF_LONG : SUBSTITUTIONS_OF_SHORT
    return zxcvbn(password, known)
  }
}
