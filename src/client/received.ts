import type { FileHandle } from 'node:fs/promises'

export interface ReceivedBytes {
  position(): number
  append(bytes: Uint8Array): Promise<void>
  clear(): Promise<void>
  sha256(): string
}

const PIECE = 1024 * 1024

export async function hashedPart(file: FileHandle, size: number): Promise<ReceivedBytes> {
  let hash = new Bun.CryptoHasher('sha256')
  let position = 0
  const { size: left } = await file.stat()
  if (left > size) await file.truncate(0)
  else {
    const piece = new Uint8Array(PIECE)
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, PIECE, position)
      if (bytesRead === 0) break
      hash.update(piece.subarray(0, bytesRead))
      position += bytesRead
    }
  }
  return {
    position: () => position,
    async append(bytes) {
      for (let written = 0; written < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written)
        written += bytesWritten
      }
      hash.update(bytes)
      position += bytes.length
    },
    async clear() {
      await file.truncate(0)
      hash = new Bun.CryptoHasher('sha256')
      position = 0
    },
    sha256: () => hash.copy().digest('hex'),
  }
}
