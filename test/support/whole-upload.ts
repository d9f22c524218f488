/** An upload sent over a socket in one go, whatever becomes of it on the way. */
import { expect } from 'bun:test'
import { openUpload, type RawAnswer } from './raw-upload.ts'

/**
 * The answer, also when it comes before all bytes are sent. Its content should be under 1 MiB, or be mostly wanted:
 * what a server has no use for it takes no more of than that before it closes the connection.
 */
export async function sendWhole(url: string, key: string, content: Uint8Array): Promise<RawAnswer> {
  const upload = await openUpload(url, { key, size: content.length })
  // Bytes that the server no longer wants are no failure of the test: the answer tells.
  await upload.send(content).catch(() => {})
  return upload.finish().catch(() => upload.answer)
}

export function expectStorageUnavailable({ status, headers, body }: RawAnswer): void {
  expect({ status, body: JSON.parse(body) }).toMatchObject({
    status: 503,
    body: { success: false, error: 'STORAGE_UNAVAILABLE' },
  })
  expect(headers.get('retry-after')).toMatch(/^\d+$/)
}
