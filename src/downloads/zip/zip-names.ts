import { markedName, shortName } from '../../domain/file-name.ts'
import { foldName } from '../../domain/sort-key.ts'

/** Path traversal, and what Windows refuses in a name: its own unpacker stops there. */
const REFUSED = /[/\\:*?"<>|]|[. ]+$/g

/** Names of devices on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i

export interface ZipNames {
  /**
   * One path component of at most 255 bytes of UTF-8, valid on Windows, unique regardless of case; numbered like ` (2)`
   * before the extension. `folded`: `foldName(name)`, if known.
   */
  take(name: string, folded?: string): string
}

export function zipNames(): ZipNames {
  /** By digest of the folded name, the number to try next. */
  const taken = new Map<number, number>()

  return {
    take(name, folded) {
      const clean = cleanComponent(name)
      const base = digest(clean === name && folded !== undefined ? folded : foldName(clean))
      const next = taken.get(base)
      if (next === undefined) {
        taken.set(base, 2)
        return clean
      }
      for (let number = next; ; number++) {
        const marked = markedName(clean, ` (${number})`)
        const key = digest(foldName(marked))
        if (taken.has(key)) continue
        taken.set(base, number + 1)
        taken.set(key, 2)
        return marked
      }
    },
  }
}

/** 53 bits instead of very many names. A rare collision only numbers a name needlessly. */
function digest(text: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, 0x9e3779b1)
    low = Math.imul(low ^ unit, 0x5f356495)
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return (low & 0x1fffff) * 2 ** 32 + (high >>> 0)
}

function cleanComponent(name: string): string {
  const plain = name.replace(REFUSED, '_').replace(DEVICE, '$&_')
  return plain === '' ? '_' : shortName(plain)
}
