import { afterAll } from 'bun:test'
import type { Config } from '../../../src/config.ts'
import { GENEROUS } from '../clients/public.ts'
import { startHoldfast, type TestHoldfast } from './holdfast.ts'

/** One server for all tests of a file. Must be awaited at the top of the file; the server stops after the last test. */
export async function hostOfFile(settings: Partial<Config> = {}): Promise<TestHoldfast> {
  const host = await startHoldfast(settings)
  afterAll(() => host.stop())
  return host
}

/** The same, and the key of its account `owner`. */
export async function ownedHost(): Promise<{ readonly host: TestHoldfast; readonly key: string }> {
  const host = await hostOfFile(GENEROUS)
  return { host, key: (await host.addAccount('owner')).apiKey }
}
