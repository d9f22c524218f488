import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runClient } from './client-job.ts'
import { measuredContentAddress } from './downloads.ts'
import { type Contender, GIB, MIB, OURS, type Scenario, sampleOf, withUsage } from './measure.ts'
import type { MeasuredHoldfast } from './servers.ts'

/** Names of the peers of an archive in the table. */
export const ONE_FILE = 'the same bytes as one file'
export const ONE_BY_ONE = 'the same files one by one'

const FILE_SIZE = 100 * 1024
const AT_ONCE = 1000
/** Maximum number of files per move request. */
const BATCH = 200

export interface ArchiveParts {
  readonly holdfast: MeasuredHoldfast
  readonly key: string
  readonly count: number
  /** Folder for the list of addresses. */
  readonly scratch: string
}

export const ARCHIVE = 'Zip of very many files of 100 KiB'

/** Uploads the files into a folder of their own, and the same number of bytes as one file. */
export async function archiveScenario({ holdfast, key, count, scratch }: ArchiveParts): Promise<Scenario> {
  console.error(`uploading ${count} files of 100 KiB for a zip`)
  const to = { how: 'multipart', url: `${holdfast.url}/api/v1/upload`, key } as const
  const slugs: string[] = []
  // In batches, because the client generates its content in advance.
  for (let first = 0; first < count; first += AT_ONCE) {
    const some = { size: FILE_SIZE, count: Math.min(AT_ONCE, count - first), connections: 16 }
    slugs.push(...(await runClient({ kind: 'upload', to, ...some, firstNumber: 2e9 + first })).slugs)
  }
  const one = { size: FILE_SIZE * count, count: 1, connections: 1 }
  const [oneSlug] = (await runClient({ kind: 'upload', to, ...one, firstNumber: 3e9 })).slugs
  if (oneSlug === undefined) throw new Error('the upload has no slug')
  const folder = await folderWith(holdfast, key, slugs)
  return {
    title: ARCHIVE,
    unit: 'MiB/s',
    per: 'GiB',
    contenders: [
      downloader(OURS, holdfast, async () => [`${holdfast.url}/f/${folder}?download=zip`], scratch),
      downloader(ONE_FILE, holdfast, async () => [await measuredContentAddress(holdfast, oneSlug)], scratch),
      downloader(ONE_BY_ONE, holdfast, () => contentAddresses(holdfast, slugs), scratch),
    ],
  }
}

function downloader(
  name: string,
  server: MeasuredHoldfast,
  addresses: () => Promise<readonly string[]>,
  scratch: string,
): Contender {
  return {
    name,
    async run() {
      const list = join(scratch, 'addresses.json')
      writeFileSync(list, JSON.stringify(await addresses()))
      const job = { kind: 'downloads', list } as const
      // One unmeasured run, so that every contender serves from memory.
      await runClient(job)
      const { result, ...used } = await withUsage(server, () => runClient(job))
      return sampleOf(result.bytes / MIB / result.seconds, used, result.bytes / GIB)
    },
  }
}

async function contentAddresses(holdfast: MeasuredHoldfast, slugs: readonly string[]): Promise<string[]> {
  const addresses: string[] = []
  for (const slug of slugs) addresses.push(await measuredContentAddress(holdfast, slug))
  return addresses
}

async function folderWith(
  holdfast: MeasuredHoldfast,
  key: string,
  slugs: readonly string[],
): Promise<string> {
  const post = async (path: string, body: unknown): Promise<string> => {
    const answer = await fetch(holdfast.url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
    return text
  }
  const created: { data: { identifier: string } } = JSON.parse(
    await post('/api/v1/folder', { name: 'archive' }),
  )
  const folder = created.data.identifier
  for (let first = 0; first < slugs.length; first += BATCH) {
    const moved: { success: boolean } = JSON.parse(
      await post('/api/v1/files/move', { files: slugs.slice(first, first + BATCH), folder }),
    )
    if (!moved.success) throw new Error('a file could not be moved')
  }
  return folder
}
