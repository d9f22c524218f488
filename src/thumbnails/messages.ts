/**
 * Protocol between the server and the process that makes thumbnails. Request: the length of a picture and its bytes.
 * Answer: the result, three lengths and that many bytes. All numbers are big-endian. The process first sends one byte
 * to say that it is ready.
 */

export const READY = Uint8Array.of(0x2b)

export const REQUEST_HEADER = 4
export const ANSWER_HEADER = 13

const KINDS = ['refused', 'made', 'turned'] as const
export type AnswerKind = (typeof KINDS)[number]

/**
 * `made`: the small, the large and the screen-sized picture, each empty where it would equal the previous one.
 * `turned`: as `made`, for a content that browsers show in another orientation. `refused`: only the reason.
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
  header.writeUInt8(KINDS.indexOf(kind))
  for (const [at, part] of parts.entries()) header.writeUInt32BE(part.byteLength, 1 + 4 * at)
  return Buffer.concat([header, ...parts])
}

export function readAnswerHeader(bytes: Uint8Array): AnswerHeader {
  const header = Buffer.from(bytes)
  return {
    kind: KINDS[header.readUInt8()] ?? 'refused',
    lengths: [header.readUInt32BE(1), header.readUInt32BE(5), header.readUInt32BE(9)],
  }
}
