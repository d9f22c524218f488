/**
 * Lists for very many small values, in a few bytes each where an object for each would take a hundred. Adding to one
 * makes no garbage, which would pile up faster than it is collected.
 */

export interface NumberList {
  readonly length: number
  push(value: number): void
  /** 0 outside of the list. */
  at(index: number): number
  /** All of it as it lies in memory: a view that is good until the next `push`. */
  bytes(): Uint8Array
}

export function numberList(): NumberList {
  let values = new Float64Array(256)
  let length = 0
  return {
    get length() {
      return length
    },
    push(value) {
      if (length === values.length) {
        const larger = new Float64Array(length * 2)
        larger.set(values)
        values = larger
      }
      values[length++] = value
    },
    at: (index) => values[index] ?? 0,
    bytes: () => new Uint8Array(values.buffer, 0, length * values.BYTES_PER_ELEMENT),
  }
}

export interface ByteList {
  readonly length: number
  /** Adds the text in UTF-8, or what the hexadecimal digits stand for. */
  push(text: string, encoding: 'utf8' | 'hex'): void
  /** A view that is good until the next `push`. */
  slice(start: number, end: number): Uint8Array
}

export function byteList(): ByteList {
  let values = Buffer.alloc(4096)
  let length = 0
  return {
    get length() {
      return length
    },
    push(text, encoding) {
      // No character takes more than three bytes for each of its UTF-16 units.
      const most = length + text.length * 3
      if (most > values.length) {
        const larger = Buffer.alloc(Math.max(most, values.length * 2))
        larger.set(values)
        values = larger
      }
      length += values.write(text, length, encoding)
    },
    slice: (start, end) => values.subarray(start, end),
  }
}
