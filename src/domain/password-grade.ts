/** Characters. */
export const SHORTEST_PASSWORD = 8
export const LONGEST_PASSWORD = 256

export const LONGEST_SHARED_PASSWORD = 128

/** Fourth of zxcvbn's five grades: over 10⁸ guesses, given common passwords and variations. */
export const STRONG_ENOUGH = 3

/** More could only raise the grade, at quadratic cost: at most 30 ms on the event loop within these bounds. */
const GRADED_CHARACTERS = 48

/** Substitutions (digits and signs as letters) that zxcvbn tries. */
const SHORT = 16
const SUBSTITUTIONS_OF_SHORT = 100
const SUBSTITUTIONS_OF_LONG = 8

/** 0 to 4. `known`: facts that an attacker would try. Rejects when the dictionaries cannot be loaded. */
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

/** On demand: they are large, and most servers and pages need none. */
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
