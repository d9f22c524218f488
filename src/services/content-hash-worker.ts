/** The thread that hashes contents: blocks come in order, and each goes back to be filled again. */

import { crc32 } from 'node:zlib'
import type { Sha256 } from '../domain/ids.ts'
import type { HashReply, HashRequest } from './content-hash-messages.ts'

declare const self: Worker

const contents = new Map<number, { readonly sha256: Bun.CryptoHasher; crc32: number }>()

self.onmessage = ({ data }: MessageEvent<HashRequest>) => {
  const hashes = contents.get(data.content) ?? { sha256: new Bun.CryptoHasher('sha256'), crc32: 0 }
  if (data.last) contents.delete(data.content)
  else contents.set(data.content, hashes)
  if (data.block === null) return
  const bytes = new Uint8Array(data.block, 0, data.length)
  hashes.sha256.update(bytes)
  hashes.crc32 = crc32(bytes, hashes.crc32)
  const digest = data.last ? { sha256: hashes.sha256.digest('hex') as Sha256, crc32: hashes.crc32 } : null
  const reply: HashReply = { content: data.content, block: data.block, digest }
  self.postMessage(reply, [data.block])
}
