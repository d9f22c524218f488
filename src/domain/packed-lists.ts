/**
 * Lists of very many small values: a few bytes each instead of an object's hundred. They grow by blocks without
 * copying: discarded copies would pile up faster than they are collected.
 */

const arrays = { u8: Uint8Array, i32: Int32Array, u32: Uint32Array, f64: Float64Array }
type NumberArray = InstanceType<(typeof arrays)[keyof typeof arrays]>

const NUMBERS_SHIFT = 10
const NUMBERS = 1 << NUMBERS_SHIFT
const BYTES = 16 * 1024

export interface NumberList {
  readonly length: number
  push(value: number): void
  /** 0 outside of the list. */
  at(index: number): number
  blocks(): Iterable<Uint8Array>
  /** Immediate, without the garbage collector; `at` then returns 0. */
  free(): void
}

/** `kind`: bits of signed or unsigned integers, or floating point. */
export function numberList(kind: keyof typeof arrays): NumberList {
  const TypedArray = arrays[kind]
  const blocks: NumberArray[] = []
  let length = 0
  return {
    get length() {
      return length
    },
    push(value) {
      const at = length % NUMBERS
      if (at === 0) blocks.push(new TypedArray(NUMBERS))
      const block = blocks[blocks.length - 1]
      if (block !== undefined) block[at] = value
      length++
    },
    at: (index) => blocks[index >> NUMBERS_SHIFT]?.[index % NUMBERS] ?? 0,
    blocks: () => blocks.values().map(({ buffer }) => new Uint8Array(buffer)),
    free: () => freeBlocks(blocks),
  }
}

export interface ByteList {
  /** UTF-8 or decoded hexadecimal; returns the offset. Throws RangeError when it may exceed a block of 16 KiB. */
  push(text: string, encoding: 'utf8' | 'hex'): number
  copy(start: number, length: number, target: Uint8Array, at: number): void
  hex(start: number, length: number): string
  blocks(): Iterable<Uint8Array>
  /** Immediate, without the garbage collector; the list is then empty. */
  free(): void
}

export function byteList(): ByteList {
  const blocks: Buffer[] = []
  let at = BYTES
  return {
    push(text, encoding) {
      // Upper bound: three bytes a UTF-16 unit, half a byte a digit.
      const most = encoding === 'hex' ? text.length / 2 : text.length * 3
      if (most > BYTES) throw new RangeError('the text is larger than a block')
      if (at + most > BYTES) {
        blocks.push(Buffer.alloc(BYTES))
        at = 0
      }
      const begin = (blocks.length - 1) * BYTES + at
      at += blocks.at(-1)?.write(text, at, encoding) ?? 0
      return begin
    },
    copy(start, length, target, at) {
      const from = start % BYTES
      blocks[Math.floor(start / BYTES)]?.copy(target, at, from, from + length)
    },
    hex(start, length) {
      const from = start % BYTES
      return blocks[Math.floor(start / BYTES)]?.toString('hex', from, from + length) ?? ''
    },
    blocks: () => blocks.values(),
    free: () => freeBlocks(blocks),
  }
}

function freeBlocks(blocks: ArrayBufferView[]): void {
  for (const { buffer } of blocks.splice(0)) {
    if (buffer instanceof ArrayBuffer) buffer.transfer(0)
  }
}
