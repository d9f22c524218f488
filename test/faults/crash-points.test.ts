import { expect, test } from 'bun:test'
import { patient } from '../support/patience.ts'
import { TRACING_TOOLS } from '../support/processes/system-calls.ts'
import { describeWith } from '../support/processes/tools.ts'
import { crashPoints, IN_SUITE } from './crash-points/run.ts'

describeWith(TRACING_TOOLS, 'a power cut at any moment of an upload', () => {
  test(
    'takes nothing that was acknowledged, and leaves nothing else',
    async () => {
      const seed = Math.floor(Math.random() * 1_000_000)
      const figures = await crashPoints({ ...IN_SUITE, seed })
      console.log(`crash points: ${JSON.stringify(figures)}`)
      expect(figures.images).toBe(IN_SUITE.most)
      // A recording of next to nothing would leave next to nothing to look at.
      expect(figures.operations).toBeGreaterThan(500)
      expect(figures.kinds).toBeGreaterThan(1000)
    },
    patient(120),
  )
})
