/**
 * What goes between the server and the process that makes thumbnails: to it, the length of a picture and its bytes;
 * back from it, what became of it, two lengths and the bytes that they speak of. All numbers are big-endian. Before the
 * first of them it says by one byte that it is there.
 */

export const READY = Uint8Array.of(0x2b)

export const REQUEST_HEADER = 4
export const ANSWER_HEADER = 9

export type AnswerKind = 'made' | 'refused'

/** `made`: the small picture and the large one, which is empty where it would be the same. `refused`: why, and nothing. */
export interface AnswerHeader {
  readonly kind: AnswerKind
  readonly first: number
  readonly second: number
}

export function requestHeader(length: number): Uint8Array {
  const header = Buffer.alloc(REQUEST_HEADER)
  header.writeUInt32BE(length)
  return header
}

export function readRequestHeader(header: Uint8Array): number {
  return Buffer.from(header).readUInt32BE()
}

export function answer(kind: AnswerKind, first: Uint8Array, second: Uint8Array): Uint8Array {
  const header = Buffer.alloc(ANSWER_HEADER)
  header.writeUInt8(kind === 'made' ? 1 : 0)
  header.writeUInt32BE(first.byteLength, 1)
  header.writeUInt32BE(second.byteLength, 5)
  return Buffer.concat([header, first, second])
}

export function readAnswerHeader(bytes: Uint8Array): AnswerHeader {
  const header = Buffer.from(bytes)
  return {
    kind: header.readUInt8() === 1 ? 'made' : 'refused',
    first: header.readUInt32BE(1),
    second: header.readUInt32BE(5),
  }
}
