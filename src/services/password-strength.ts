import { Refusal } from '../domain/errors.ts'

const SHORTEST = 8
const LONGEST = 256

/** Of zxcvbn's five grades the fourth: more than 10⁸ guesses, by what people use and how they vary it. */
const STRONG_ENOUGH = 3

/** What lies beyond adds nothing, and costs the square of its length. */
const LOOKED_AT = 100

/**
 * Throws Refusal WEAK_PASSWORD for a password that is too short, or one that somebody would try early. `known`: what
 * everybody knows of its owner, and would try first.
 */
export async function assertStrong(password: string, known: readonly string[]): Promise<void> {
  if (password.length < SHORTEST || password.length > LONGEST) {
    throw new Refusal('WEAK_PASSWORD', `A password has ${SHORTEST} to ${LONGEST} characters`)
  }
  judging ??= loadJudge()
  const zxcvbn = await judging
  const { score } = zxcvbn(password.slice(0, LOOKED_AT), [...known, 'holdfast'])
  if (score < STRONG_ENOUGH) {
    throw new Refusal(
      'WEAK_PASSWORD',
      'This password is easy to guess; add a few words to it, or use another',
    )
  }
}

type Judge = (password: string, known: string[]) => { readonly score: number }

let judging: Promise<Judge> | null = null

/** Its words are large, and most servers never need them. */
async function loadJudge(): Promise<Judge> {
  const [{ zxcvbn, zxcvbnOptions }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  zxcvbnOptions.setOptions({ dictionary, graphs: adjacencyGraphs })
  return zxcvbn
}
