/** Measures the memory of one upload to S3, in a process of its own. */
import { z } from 'zod'
import { openS3Blobs } from '../../../src/blobs/s3.ts'
import type { S3Settings } from '../../../src/blobs/s3-client.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { runProgram } from '../processes/program.ts'

const CHUNK = 64 * 1024
const figures = z.object({ raised: z.number(), size: z.number() })

/** Uploads and deletes so many bytes; returns the growth of the process's peak memory. */
export async function memoryOfUpload(settings: S3Settings, bytes: number): Promise<number> {
  const command = [process.execPath, import.meta.path, JSON.stringify(settings), String(bytes)]
  const { code, output, errors } = await runProgram(command, { env: { PATH: process.env.PATH ?? '' } })
  if (code !== 0) throw new Error(`the upload ended with ${code}: ${errors}`)
  const { raised, size } = figures.parse(JSON.parse(output))
  if (size !== bytes) throw new Error(`the store has ${size} of ${bytes} bytes`)
  return raised
}

if (import.meta.main) {
  const [settings = '', length = ''] = process.argv.slice(2)
  const store = await openS3Blobs(JSON.parse(settings), systemRandom)
  const key = makeBlobKey(systemRandom)
  const chunk = new Uint8Array(CHUNK).fill(1)
  const before = process.memoryUsage.rss()
  let peak = before
  setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 5).unref()
  const writer = await store.create(key)
  for (let left = Number(length); left > 0; left -= CHUNK) await writer.write(chunk.subarray(0, left))
  await writer.complete()
  const size = await store.size(key)
  await store.remove(key)
  console.log(JSON.stringify({ raised: peak - before, size }))
}
