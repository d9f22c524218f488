/** Bytes and random numbers that are the same in every run. */
import { createHash } from 'node:crypto'

const MIB = 1024 * 1024
const BLOCK = 16 * MIB

/**
 * An incompressible block, repeated, in pieces of up to 1 MiB. The first eight bytes are the number, so that all contents
 * differ and none is deduplicated.
 */
export function content(size: number, number: number): readonly Uint8Array[] {
  const first = new Uint8Array(Math.min(MIB, size))
  first.set(block().subarray(0, first.length))
  new DataView(first.buffer).setBigUint64(0, BigInt(number))
  const pieces: Uint8Array[] = [first]
  for (let at = first.length; at < size; ) {
    const from = at % BLOCK
    const length = Math.min(MIB, BLOCK - from, size - at)
    pieces.push(block().subarray(from, from + length))
    at += length
  }
  return pieces
}

/** SHA-256 of the pieces in hexadecimal. */
export function sha256(pieces: Iterable<Uint8Array>): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

/** Random numbers (mulberry32): at least 0, less than 1. */
export function repeatableRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

let made: Uint8Array<ArrayBuffer> | null = null

function block(): Uint8Array<ArrayBuffer> {
  if (made !== null) return made
  const random = repeatableRandom(1)
  const words = new Uint32Array(BLOCK / 4)
  for (let at = 0; at < words.length; at++) words[at] = random() * 4294967296
  made = new Uint8Array(words.buffer)
  return made
}
