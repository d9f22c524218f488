/** How long a password may be: characters. */
export const SHORTEST = 8
export const LONGEST = 256

/** Of zxcvbn's five grades the fourth: more than 10⁸ guesses, by what people use and how they vary it. */
export const STRONG_ENOUGH = 3

/**
 * Characters. What lies beyond could only make a password better, and costs the square of its length: with these bounds
 * about 30 ms at most, on the thread that serves.
 */
const LOOKED_AT = 48

/** In how many ways the digits and signs of a password are read as letters: in all of them only while it is short. */
const SHORT = 16
const READINGS_OF_SHORT = 100
const READINGS_OF_LONG = 8

/**
 * How hard a password is to guess, from 0 to 4. `known`: what everybody knows of its owner, and would try first. The
 * words it is compared with are loaded when they are first needed, and rejects when they cannot be had.
 */
export async function gradeOf(password: string, known: readonly string[]): Promise<number> {
  judging ??= loadJudge()
  judging.catch(() => {
    judging = null
  })
  const zxcvbn = await judging
  return zxcvbn(password.slice(0, LOOKED_AT), [...known, 'holdfast']).score
}

type Judge = (password: string, known: string[]) => { readonly score: number }

let judging: Promise<Judge> | null = null

/** They are large, and most servers and pages never need them. */
async function loadJudge(): Promise<Judge> {
  const [{ zxcvbn, zxcvbnOptions }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  zxcvbnOptions.setOptions({ dictionary, graphs: adjacencyGraphs })
  return (password, known) => {
    zxcvbnOptions.l33tMaxSubstitutions = password.length > SHORT ? READINGS_OF_LONG : READINGS_OF_SHORT
    return zxcvbn(password, known)
  }
}
