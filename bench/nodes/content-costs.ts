/** What bytes of a file cost a node and PostgreSQL, and what both do when nobody asks for anything. */
import { runClient } from '../client-job.ts'
import { measuredContentAddress } from '../downloads.ts'
import { type Measurement, MIB, sampleOf, withUsage } from '../measure.ts'
import { uploadListed } from '../preparation.ts'
import type { MeasuredHoldfast } from '../servers.ts'
import { uploadTo } from '../uploads.ts'

export interface Operation {
  readonly name: string
  /** Operations per unit in which CPU time is measured. */
  readonly unit: number
  run(): Promise<Measurement>
}

const SIZE = 64 * MIB
const RANGES = 400
const IDLE_SECONDS = 10
/** Other files, so that it shows where a request costs more the more there are. */
const OTHERS = 2000

/** Uploads a file with that key. */
export async function contentOperations(
  server: MeasuredHoldfast,
  key: string,
  tree: string,
): Promise<Operation[]> {
  await uploadListed(server, OTHERS)
  const to = uploadTo(server, key)
  const { slugs } = await runClient({
    kind: 'upload',
    to,
    size: SIZE,
    count: 1,
    connections: 1,
    firstNumber: 3e9,
  })
  const [slug] = slugs
  if (slug === undefined) throw new Error('the upload has no slug')

  async function ranges(length: number, count: number, by: string | undefined): Promise<Measurement> {
    const url = await measuredContentAddress(server, slug ?? '', by)
    const wanted = { count, length, size: SIZE }
    const job = { kind: 'download', url, ranges: wanted, hash: false } as const
    const asked = by === undefined ? job : { ...job, key: by }
    const { result, ...used } = await withUsage(server, () => runClient(asked))
    return sampleOf(count / result.seconds, used, count)
  }
  const range = (title: string, length: number, by?: string): Operation => ({
    name: `${title}, ${tree}`,
    unit: 1,
    run: () => ranges(length, RANGES, by),
  })
  // Statements are prepared, and code is compiled, before anything counts.
  await ranges(MIB, RANGES / 2, undefined)
  await ranges(MIB, RANGES / 2, key)
  return [
    range('range of 1 MiB', MIB),
    range('range of 1 MiB, with a key', MIB, key),
    range('range of 1 byte', 1),
    range('range of 1 byte, with a key', 1, key),
    {
      name: `a second without requests, ${tree}`,
      unit: 1,
      async run() {
        const used = await withUsage(server, () => Bun.sleep(IDLE_SECONDS * 1000))
        return sampleOf(1, used, IDLE_SECONDS)
      },
    },
  ]
}
