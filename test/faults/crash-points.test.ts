// Only in test:all: many starts of the server; sync-failures has each sync.
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
      const { most: looked, mostOfDatabase: read } = IN_SUITE
      expect(figures).toMatchObject({ looked, read })
      // A recording of next to nothing would leave next to nothing to look at.
      expect(figures.operations).toBeGreaterThan(500)
      expect(figures.states).toBeGreaterThan(300)
      expect(figures.ofDatabase).toBeGreaterThan(4000)
    },
    patient(120),
  )
})
