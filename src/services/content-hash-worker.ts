/** The thread that hashes contents: their blocks come in order, in memory that is shared with the server's thread. */

import { crc32 } from 'node:zlib'
import type { Sha256 } from '../domain/ids.ts'
import type { Digest, HashReply, HashRequest } from './content-hash-messages.ts'

declare const self: Worker

interface Content {
  readonly sha256: Bun.CryptoHasher
  crc32: number
  memory: SharedArrayBuffer
}

const contents = new Map<number, Content>()

self.onmessage = ({ data }: MessageEvent<HashRequest>) => {
  const content = contents.get(data.content)
  switch (data.kind) {
    case 'memory':
      if (content !== undefined) content.memory = data.memory
      else {
        const sha256 = new Bun.CryptoHasher('sha256')
        contents.set(data.content, { sha256, crc32: 0, memory: data.memory })
      }
      return
    case 'drop':
      contents.delete(data.content)
      return
    case 'block':
      if (content === undefined) throw new Error(`a block of content ${data.content}, which has no memory`)
      self.postMessage({ content: data.content, digest: take(content, data) } satisfies HashReply)
  }
}

function take(content: Content, block: Extract<HashRequest, { kind: 'block' }>): Digest | null {
  const bytes = new Uint8Array(content.memory, block.offset, block.length)
  content.sha256.update(bytes)
  content.crc32 = crc32(bytes, content.crc32)
  if (!block.last) return null
  contents.delete(block.content)
  return { sha256: content.sha256.digest('hex') as Sha256, crc32: content.crc32 }
}
