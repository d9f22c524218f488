/** Lists for very many small values, in a few bytes each, where an object for each would take a hundred. */

export interface NumberList {
  readonly length: number
  push(value: number): void
  /** 0 outside of the list. */
  at(index: number): number
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
  }
}

export interface ByteList {
  readonly length: number
  push(bytes: Uint8Array): void
  /** A view that is good until the next `push`. */
  slice(start: number, end: number): Uint8Array
}

export function byteList(): ByteList {
  let values = new Uint8Array(4096)
  let length = 0
  return {
    get length() {
      return length
    },
    push(bytes) {
      const needed = length + bytes.length
      if (needed > values.length) {
        const larger = new Uint8Array(Math.max(needed, values.length * 2))
        larger.set(values)
        values = larger
      }
      values.set(bytes, length)
      length = needed
    },
    slice: (start, end) => values.subarray(start, end),
  }
}
