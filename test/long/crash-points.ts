import { crashPoints, IN_SUITE } from '../faults/crash-points/run.ts'

const REPORT_EVERY = 200

/** Looks at every state of as many recordings; every twentieth is looked at by a server in a process of its own. */
export async function crashImages(recordings: number): Promise<string> {
  const all = { most: Number.POSITIVE_INFINITY, mostOfDatabase: Number.POSITIVE_INFINITY }
  const figures: string[] = []
  for (let seed = 1; seed <= recordings; seed++) {
    const measure = { ...IN_SUITE, ...all, seed, ownProcessEvery: 20 }
    const found = await crashPoints(measure, (looked, of) => {
      if (looked % REPORT_EVERY === 0) console.log(`crash points: ${looked} of ${of}`)
    })
    figures.push(JSON.stringify(found))
  }
  return figures.join(' ')
}
