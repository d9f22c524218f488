/**
 * What goes between the server and the process that makes thumbnails: to it, the length of a picture and its bytes;
 * back from it, what became of it, three lengths and the bytes that they speak of. All numbers are big-endian. Before the
 * first of them it says by one byte that it is there.
 */

export const READY = Uint8Array.of(0x2b)

export const REQUEST_HEADER = 4
export const ANSWER_HEADER = 13

export type AnswerKind = 'made' | 'refused'

/**
 * `made`: the small picture, the large one and the one for screens, each empty where it would be the same as the one
 * before. `refused`: why, and nothing.
 */
export interface AnswerHeader {
  readonly kind: AnswerKind
  readonly lengths: readonly [number, number, number]
}

export function requestHeader(length: number): Uint8Array {
  const header = Buffer.alloc(REQUEST_HEADER)
  header.writeUInt32BE(length)
  return header
}

export function readRequestHeader(header: Uint8Array): number {
  return Buffer.from(header).readUInt32BE()
}

export function answer(
  kind: AnswerKind,
  ...parts: readonly [Uint8Array, Uint8Array, Uint8Array]
): Uint8Array {
  const header = Buffer.alloc(ANSWER_HEADER)
  header.writeUInt8(kind === 'made' ? 1 : 0)
  for (const [at, part] of parts.entries()) header.writeUInt32BE(part.byteLength, 1 + 4 * at)
  return Buffer.concat([header, ...parts])
}

export function readAnswerHeader(bytes: Uint8Array): AnswerHeader {
  const header = Buffer.from(bytes)
  return {
    kind: header.readUInt8() === 1 ? 'made' : 'refused',
    lengths: [header.readUInt32BE(1), header.readUInt32BE(5), header.readUInt32BE(9)],
  }
}
