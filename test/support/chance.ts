/** Random numbers and contents that are reproducible from a seed. */
export interface Chance {
  /** At least 0, less than 1. */
  fraction(): number
  /** An integer from `least` to `most`, inclusive. */
  whole(least: number, most: number): number
  pick<T>(values: readonly T[]): T
  bytes(length: number): Uint8Array<ArrayBuffer>
}

/** mulberry32: small, and random enough for tests. */
export function chance(seed: number): Chance {
  let state = seed | 0
  const word = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const fraction = () => word() / 2 ** 32
  const whole = (least: number, most: number) => least + Math.floor(fraction() * (most - least + 1))
  return {
    fraction,
    whole,
    pick(values) {
      const value = values[whole(0, values.length - 1)]
      if (value === undefined) throw new Error('there is nothing to pick from')
      return value
    },
    bytes(length) {
      const words = new Uint32Array(Math.ceil(length / 4))
      for (let at = 0; at < words.length; at++) words[at] = word()
      return new Uint8Array(words.buffer, 0, length)
    },
  }
}
