import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import type { MeasuredUploadJob } from './client-job.ts'
import type { HttpConnection } from './http-connection.ts'

export type TusTarget = Extract<MeasuredUploadJob['to'], { how: 'tus' | 'tus-synced' }>

const MIB = 1024 * 1024

/** One upload over tus, until the file is durable. Returns its path on the server. */
export async function sendByTus(
  connection: HttpConnection,
  to: TusTarget,
  size: number,
  pieces: readonly Uint8Array[],
): Promise<string> {
  const key: Record<string, string> = to.how === 'tus' ? { Authorization: `Bearer ${to.key}` } : {}
  const own = { 'Tus-Resumable': '1.0.0', ...key }
  const created = await fetch(to.url, { method: 'POST', headers: { ...own, 'Upload-Length': String(size) } })
  const location = created.headers.get('location')
  if (created.status !== 201 || location === null) throw new Error(`creation: ${created.status}`)
  const { pathname, host } = new URL(location, to.url)
  for (let offset = 0; offset < size; ) {
    const length = Math.min(to.chunk, size - offset)
    const headers = Object.entries({
      Host: host,
      ...own,
      'Upload-Offset': offset,
      'Content-Type': 'application/offset+octet-stream',
      'Content-Length': length,
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    const head = Buffer.from(`PATCH ${pathname} HTTP/1.1\r\n${headers.join('')}\r\n`)
    // Pieces are of one mebibyte each, and chunks are multiples of it.
    const body = pieces.slice(offset / MIB, (offset + length) / MIB)
    const answer = await connection.request([head, ...body])
    if (answer.status !== 204) throw new Error(`PATCH: ${answer.status} ${answer.text}`)
    offset += length
  }
  if (to.how === 'tus-synced') await sync(`${to.folder}/${basename(pathname)}`, size)
  return pathname
}

async function sync(path: string, size: number): Promise<void> {
  const file = await open(path, 'r')
  await file.sync()
  const stored = await file.stat()
  await file.close()
  if (stored.size !== size) throw new Error(`tus: ${stored.size} bytes arrived of ${size}`)
}
