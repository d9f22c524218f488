/**
 * Measures the multipart boundary scan alone: the body is in memory and the sink discards. Prints GB/s (10⁹
 * bytes), the median of several rounds, for random content and for content full of partial boundaries. Run it
 * with `bun bench/multipart.ts`.
 */
import { randomBytes } from 'node:crypto'
import { scanMultipart } from '../src/uploads/multipart.ts'

const BOUNDARY = '----WebKitFormBoundary7MA4YWxkTrZu0gW'
const CHUNK = 64 * 1024
const ROUNDS = 7
const HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`

const contents: Record<string, { chunk: Uint8Array; chunks: number }> = {
  'random bytes': { chunk: randomBytes(CHUNK), chunks: 32_768 },
  'only line breaks': { chunk: Buffer.alloc(CHUNK, '\r\n'), chunks: 8_192 },
  'beginnings of the boundary': {
    chunk: Buffer.alloc(CHUNK, `\r\n--${BOUNDARY.slice(0, -1)}`),
    chunks: 8_192,
  },
  'boundaries with more behind': { chunk: Buffer.alloc(CHUNK, `\r\n--${BOUNDARY}x`), chunks: 256 },
}

for (const [name, { chunk, chunks }] of Object.entries(contents)) {
  const rates: number[] = []
  for (let round = 0; round < ROUNDS; round++) rates.push(await rate(chunk, chunks))
  const median = rates.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
  console.log(`${name.padEnd(28)} ${median.toFixed(2).padStart(6)} GB/s`)
}

async function rate(chunk: Uint8Array, chunks: number): Promise<number> {
  let bytes = 0
  const begin = performance.now()
  await scanMultipart(form(chunk, chunks).getReader(), BOUNDARY, {
    part: () => ({
      write(piece) {
        bytes += piece.length
      },
      end() {},
    }),
  })
  const seconds = (performance.now() - begin) / 1000
  if (bytes !== chunk.length * chunks) throw new Error(`${bytes} bytes came out of ${chunk.length * chunks}`)
  return bytes / seconds / 1e9
}

function form(chunk: Uint8Array, chunks: number): ReadableStream<Uint8Array> {
  let sent = -1
  return new ReadableStream({
    pull(controller) {
      if (sent === -1) controller.enqueue(Buffer.from(HEAD))
      else if (sent < chunks) controller.enqueue(chunk)
      else {
        controller.enqueue(Buffer.from(`\r\n--${BOUNDARY}--\r\n`))
        controller.close()
      }
      sent += 1
    },
  })
}
