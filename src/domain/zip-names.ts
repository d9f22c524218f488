import { foldName, markedName } from './file-name.ts'

/** What an unpacking program could take for a way to another place: Windows reads a colon as a drive or a stream. */
const LEADS_ELSEWHERE = /[/\\:]/g

/** The names of one folder in an archive. */
export interface ZipNames {
  /**
   * The name that stands in the archive for `name`: a single path component of at most 255 bytes of UTF-8, never `.`
   * or `..`, and different from those taken before also where upper and lower case are one. The second of a name gets
   * ` (2)` before its extension. `folded` is `foldName(name)`, for those who have it already.
   */
  take(name: string, folded?: string): string
}

export function zipNames(): ZipNames {
  /** Folded names, each with the number that the next one of that name tries first. */
  const taken = new Map<string, number>()

  return {
    take(name, folded) {
      const clean = cleanComponent(name)
      const base = clean === name && folded !== undefined ? folded : foldName(clean)
      const next = taken.get(base)
      if (next === undefined) {
        taken.set(base, 2)
        return clean
      }
      for (let number = next; ; number++) {
        const marked = markedName(clean, ` (${number})`)
        const key = foldName(marked)
        if (taken.has(key)) continue
        taken.set(base, number + 1)
        taken.set(key, 2)
        return marked
      }
    },
  }
}

function cleanComponent(name: string): string {
  const plain = name.replace(LEADS_ELSEWHERE, '_')
  if (plain === '' || plain === '.' || plain === '..') return '_'
  return Buffer.byteLength(plain) <= 255 ? plain : markedName(plain, '')
}
