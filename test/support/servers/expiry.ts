/** Servers whose clock is advanced until unused files expire. */
import { z } from 'zod'
import type { Config } from '../../../src/config.ts'
import { DAY, HOUR } from '../../../src/domain/clock.ts'
import { api, withHoldfast } from '../clients/public.ts'
import type { TestHoldfast } from './holdfast.ts'

const accountResult = z.object({
  data: z.object({ storage_used: z.number(), files_count: z.number(), folders_count: z.number() }),
})

/** Runs the work on a new server with one account. */
export function withOwner(
  settings: Partial<Config>,
  work: (host: TestHoldfast, key: string) => Promise<void>,
): Promise<void> {
  return withHoldfast(settings, async (host) => work(host, (await host.addAccount('owner')).apiKey))
}

export async function account(
  host: TestHoldfast,
  key: string,
): Promise<z.infer<typeof accountResult>['data']> {
  return accountResult.parse((await api(host, key, 'GET', '/api/v1/account')).body).data
}

/** Advances the clock in steps and runs the jobs after each, as in production. */
export async function pass(host: TestHoldfast, total: number, step = HOUR): Promise<void> {
  for (let gone = 0; gone < total; gone += step) {
    host.clock.advance(Math.min(step, total - gone))
    await host.runJobs()
  }
}

/** Sets the wall clock back so far that every expiry was wrong, and counts the files that are restored. */
export async function notYetPurged(host: TestHoldfast, key: string): Promise<number> {
  host.clock.leap(-90 * DAY)
  await host.runJobs()
  return (await account(host, key)).files_count
}
