/** Generated cases: `npm test` runs a sample, every other run all. */
import { chance } from './chance.ts'

const isSample = process.env.HOLDFAST_TEST_CASES === 'some'
/** Seed of the sample. */
const SEED = Number(process.env.HOLDFAST_TEST_SEED ?? 1)
const SHARE = 5
let samples = 0

/** Number of random cases to run, of `all`. */
export function runsOf(all: number): number {
  return isSample ? Math.ceil(all / SHARE) : all
}

/** One of every five cases, or all, in order. */
export function sampleOf<Case>(cases: readonly Case[]): readonly Case[] {
  if (!isSample) return cases
  // A new seed per list, since otherwise all lists would be sampled at the same positions.
  const random = chance(SEED + samples++)
  const begins = Array.from({ length: Math.ceil(cases.length / SHARE) }, (_, at) => at * SHARE)
  return begins.map((begin) => random.pick(cases.slice(begin, begin + SHARE)))
}
