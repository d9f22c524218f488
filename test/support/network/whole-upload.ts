/** An upload sent over a socket in one go, even if the server refuses it. */
import { expect } from 'bun:test'
import { openUpload, type RawAnswer } from './raw-upload.ts'

/**
 * Sends the content and returns the answer, even one that comes before all bytes are sent. The content should
 * be under 1 MiB or mostly accepted: a server drains only that much of a refused body before it closes the
 * connection.
 */
export async function sendWhole(url: string, key: string, content: Uint8Array): Promise<RawAnswer> {
  const upload = await openUpload(url, { key, size: content.length })
  // A failed send is not a failure of the test: the answer shows the result.
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
