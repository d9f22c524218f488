/**
 * Lists for very many small values, in a few bytes each where an object for each would take a hundred. They grow by
 * blocks and copy nothing, because what is thrown away piles up faster than it is collected.
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
  /** All of it as it lies in memory, and zeros behind it. */
  blocks(): Iterable<Uint8Array>
  /** Gives its memory back at once, without the garbage collector, and says 0 of everything from then on. */
  free(): void
}

/** What the numbers are: whole ones of that many bits with or without a sign, or any. */
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
  /**
   * Adds the text in UTF-8, or what the hexadecimal digits stand for, and returns where it begins. Throws RangeError
   * when it may not go into a block of 16 KiB.
   */
  push(text: string, encoding: 'utf8' | 'hex'): number
  /** Puts bytes that were pushed as one into the target. */
  copy(start: number, length: number, target: Uint8Array, at: number): void
  /** Bytes that were pushed as one, in hexadecimal digits. */
  hex(start: number, length: number): string
  /** All of it as it lies in memory, with zeros where there is nothing. */
  blocks(): Iterable<Uint8Array>
  /** Gives its memory back at once, without the garbage collector, and holds nothing from then on. */
  free(): void
}

export function byteList(): ByteList {
  const blocks: Buffer[] = []
  /** Where the next text begins in the last block. */
  let at = BYTES
  return {
    push(text, encoding) {
      // No character takes more than three bytes for each of its UTF-16 units, no two digits more than one.
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
