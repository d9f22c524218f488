import { crashPoints, IN_SUITE } from '../faults/crash-points/run.ts'

const REPORT_EVERY = 200

/** Looks at so many images of one recording, or at all of them when there are fewer; every twentieth in a process of its own. */
export async function crashImages(most: number): Promise<string> {
  const seed = Math.floor(Math.random() * 1_000_000)
  const measure = { ...IN_SUITE, seed, subsets: 8, most, ownProcessEvery: 20 }
  const figures = await crashPoints(measure, (looked, of) => {
    if (looked % REPORT_EVERY === 0) console.log(`crash points: ${looked} of ${of}`)
  })
  return JSON.stringify(figures)
}
