import { afterAll } from 'bun:test'
import { GENEROUS } from '../clients/public.ts'
import { startHoldfast, type TestHoldfast } from './holdfast.ts'

/**
 * One server for all tests of a file, and the key of its account `owner`. Must be awaited at the top of the
 * file; the server stops after the last test.
 */
export async function ownedHost(): Promise<{ readonly host: TestHoldfast; readonly key: string }> {
  const host = await startHoldfast(GENEROUS)
  afterAll(() => host.stop())
  return { host, key: (await host.addAccount('owner')).apiKey }
}
