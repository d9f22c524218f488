/** Runs in a worker: hashes a file of the person's own, a piece at a time, and tells how far it is. */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'

export type HashTold =
  | { readonly kind: 'hashed'; readonly bytes: number }
  | { readonly kind: 'done'; readonly sha256: string }
  | { readonly kind: 'failed' }

const PIECE = 4 * 1024 ** 2

addEventListener('message', ({ data }: MessageEvent<File>) => {
  hash(data).catch(() => tell({ kind: 'failed' }))
})

async function hash(file: File): Promise<void> {
  const hashing = sha256.create()
  for (let at = 0; at < file.size; at += PIECE) {
    hashing.update(new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer()))
    tell({ kind: 'hashed', bytes: Math.min(file.size, at + PIECE) })
  }
  tell({ kind: 'done', sha256: bytesToHex(hashing.digest()) })
}

function tell(told: HashTold): void {
  postMessage(told)
}
