// Only in test:all: rounds of crashes.
import { expect, test } from 'bun:test'
import { crashRounds } from './crash-rounds.ts'

const rounds = number('HOLDFAST_TEST_CRASH_ROUNDS') ?? 3
const seed = number('HOLDFAST_TEST_CRASH_SEED') ?? Math.floor(Math.random() * 1_000_000)

test(
  `killed ${rounds} times at random moments, the server keeps what it acknowledged and nothing else`,
  async () => {
    console.log(`crash rounds: HOLDFAST_TEST_CRASH_ROUNDS=${rounds} HOLDFAST_TEST_CRASH_SEED=${seed}`)
    const figures = await crashRounds({ rounds, seed })
    console.log(`crash rounds: ${JSON.stringify(figures)}`)
    // Kills that find the server idle prove nothing.
    expect(figures.uploads).toBeGreaterThan(rounds)
    expect(figures.unanswered).toBeGreaterThan(rounds)
  },
  120_000 + rounds * 40_000,
)

function number(variable: string): number | null {
  const text = process.env[variable]
  if (text === undefined) return null
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${variable} is "${text}": allowed is a whole number`)
  return Number(text)
}
