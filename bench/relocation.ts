/**
 * `npm run bench -- relocation`: measures `holdfast relocate` from a folder to S3 with many small files, beside what the store takes
 * of a bare client that writes and reads the same objects, as many at once. Prints a table.
 *
 * npm run bench -- relocation [--files N] [--kilobytes N] [--rounds N] [--folder PATH] [--help]
 */
import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MAX_CONCURRENT } from '../src/contents/copying.ts'
import { newBucket } from '../test/support/storage/ceph.ts'
import { median } from './measure.ts'
import { startMeasuredHoldfast } from './servers.ts'

const HELP = `npm run bench -- relocation [options]

Moves an installation from a folder to a Ceph gateway of its own, or to the store that HOLDFAST_TEST_S3 names.

  --files N      how many files it has; 2000 unless told
  --kilobytes N  size of each; 100 unless told
  --rounds N     how often; 3 unless told
  --folder PATH  on the disk to measure; /var/tmp unless told
  --help         this`

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '2000' },
    kilobytes: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
    folder: { type: 'string', default: '/var/tmp' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit()
}
const [files, rounds, size] = [Number(values.files), Number(values.rounds), Number(values.kilobytes) * 1000]
const MAIN = join(import.meta.dir, '../src/main.ts')
const folder = mkdtempSync(join(values.folder, 'holdfast-relocation-bench-'))
const data = join(folder, 'holdfast', 'data')
try {
  await fill()
  const taken = { store: [] as number[], relocation: [] as number[] }
  let memory = 0
  for (let round = 0; round < rounds; round++) {
    taken.store.push(await bareStore())
    const relocation = await relocated(round)
    taken.relocation.push(relocation.seconds)
    memory = Math.max(memory, relocation.memory)
  }
  const megabytes = (files * size) / 1e6
  const bare = median(taken.store)
  console.log(
    `${files} files of ${values.kilobytes} KB, ${rounds} rounds, medians, ${MAX_CONCURRENT} at once\n`,
  )
  console.log('| way | seconds | MB/s | of the bare client |')
  console.log('|---|---:|---:|---:|')
  for (const [name, seconds] of [
    ['bare client: writes and reads back', bare],
    ['`holdfast relocate`', median(taken.relocation)],
  ] as const) {
    const speed = (megabytes / seconds).toFixed(1)
    console.log(`| ${name} | ${seconds.toFixed(1)} | ${speed} | ${(bare / seconds).toFixed(2)} |`)
  }
  console.log(`\nMost memory of the command: ${Math.round(memory / 1e6)} MB.`)
} finally {
  rmSync(folder, { recursive: true })
}

async function fill(): Promise<void> {
  const server = await startMeasuredHoldfast(join(folder, 'holdfast'))
  try {
    const headers = { Authorization: `Bearer ${await server.addAccount('relocation')}` }
    const put = async (number: number) => {
      const body = randomBytes(size)
      const answer = await fetch(`${server.url}/${number}.bin`, { method: 'PUT', headers, body })
      if (!answer.ok) throw new Error(`an upload was answered ${answer.status}: ${await answer.text()}`)
    }
    await atOnce(16, files, put)
  } finally {
    await server.stop()
  }
}

/** Seconds that the store takes of Bun's own client: each object is written, read back and compared by its length. */
async function bareStore(): Promise<number> {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = await newBucket()
  const client = new Bun.S3Client({ endpoint, region, bucket, accessKeyId, secretAccessKey })
  await makeBucket(endpoint, bucket)
  const bytes = randomBytes(size)
  const began = performance.now()
  await atOnce(MAX_CONCURRENT, files, async (number) => {
    await client.write(`${number}`, bytes)
    if ((await client.file(`${number}`).bytes()).byteLength !== size) throw new Error('the store lost bytes')
  })
  return (performance.now() - began) / 1000

  /** By the program, which makes buckets at its start. */
  async function makeBucket(at: string, name: string): Promise<void> {
    const { openS3Blobs } = await import('../src/blobs/s3.ts')
    const { systemRandom } = await import('../src/domain/random.ts')
    const settings = { endpoint: at, region, bucket: name, accessKeyId, secretAccessKey, pathStyle: true }
    await openS3Blobs(settings, systemRandom)
  }
}

async function relocated(round: number): Promise<{ seconds: number; memory: number }> {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = await newBucket()
  const from = join(folder, `round-${round}`)
  cpSync(data, from, { recursive: true })
  const words = ['--to-s3', `${endpoint}/${bucket}`, '--to-s3-region', region, '--to-s3-path-style']
  const began = performance.now()
  const child = Bun.spawn([process.execPath, '--no-env-file', MAIN, 'relocate', ...words], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '/',
      HOLDFAST_DATA_DIR: from,
      HOLDFAST_S3_ACCESS_KEY_ID: accessKeyId,
      HOLDFAST_S3_SECRET_ACCESS_KEY: secretAccessKey,
    },
    stdout: 'ignore',
    stderr: Bun.file(join(folder, 'errors')),
  })
  if ((await child.exited) !== 0) throw new Error(readFileSync(join(folder, 'errors'), 'utf8'))
  const seconds = (performance.now() - began) / 1000
  rmSync(from, { recursive: true })
  return { seconds, memory: child.resourceUsage()?.maxRSS ?? 0 }
}

/** Does the work for each number, so many at a time. */
async function atOnce(width: number, count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: width }, lane))
}
