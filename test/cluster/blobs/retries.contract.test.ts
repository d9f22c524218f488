import { describe, expect, test } from 'bun:test'
import { type Pacing, retrying } from '../../../src/blobs/retries.ts'
import { systemRandom } from '../../../src/domain/random.ts'

describe('trying again', () => {
  function recorded(): { readonly pacing: Pacing; readonly waits: number[] } {
    const waits: number[] = []
    let now = 0
    const wait = async (milliseconds: number) => {
      waits.push(milliseconds)
      now += milliseconds
    }
    return { pacing: { monotonic: () => now, wait, random: systemRandom }, waits }
  }
  const fails = async (): Promise<never> => {
    throw new Error('away')
  }

  test('waits longer each time, by chance between half of the step and the whole', async () => {
    const { pacing, waits } = recorded()
    const policy = { tries: 8, giveUpAfter: 1e9 }
    await expect(retrying(fails, { isTransient: () => true, policy, pacing })).rejects.toThrow('away')
    const steps = [100, 200, 400, 800, 1600, 3000, 3000]
    expect(waits).toHaveLength(steps.length)
    for (const [at, step] of steps.entries()) {
      expect(waits[at]).toBeGreaterThanOrEqual(step / 2)
      expect(waits[at]).toBeLessThanOrEqual(step)
    }
    expect(new Set(waits).size).toBeGreaterThan(3)
  })

  test('ends when the policy is exhausted, and at once with an error that is not transient', async () => {
    const { pacing, waits } = recorded()
    const policy = { tries: 8, giveUpAfter: 500 }
    await expect(retrying(fails, { isTransient: () => true, policy, pacing })).rejects.toThrow('away')
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(500)
    const waited = waits.length
    await expect(retrying(fails, { isTransient: () => false, policy, pacing })).rejects.toThrow('away')
    expect(waits).toHaveLength(waited)
  })
})
