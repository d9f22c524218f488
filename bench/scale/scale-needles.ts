/** Words in names of files, and how many names hold each. */

/** Each word is in the names of exactly three files: an old one, one of middle age and a new one. */
export const RARE = { word: 'quarzit', three: 'q7z', script: '鯨骨座', two: 'qz', one: '鱗' } as const
/** In the names of the oldest twentieth of the files, and in no other. */
export const ONLY_OLD = 'telefax'

/** All words that the benchmark searches for. */
export const NEEDLES: readonly string[] = [
  ...Object.values(RARE),
  ONLY_OLD,
  ...['img_', '.jpg', 'pdf', 'report', 'stadtwerke', 'отчёт', '2022', 'mp4', 'flac', 'backup-', 'xlsx'],
  ...['e', '1', '議', 'jp', 'со', '表和'],
]

/** The name with the rare word that the file is to be found by, if the file has one. */
export function marked(name: string, index: number, total: number): string {
  if (index < total / 20) return `${ONLY_OLD} ${name}`
  const needles = Object.values(RARE)
  for (const share of [0.1, 0.5, 0.9]) {
    const needle = needles[index - Math.floor(total * share)]
    if (needle !== undefined) return `${needle.toUpperCase()} ${name}`
  }
  return name
}

/** Counts the folded names that hold each of the needles. */
export class NeedleCounts {
  readonly #counts = new Map(NEEDLES.map((needle) => [needle, 0]))

  count(foldedName: string): void {
    for (const [needle, count] of this.#counts) {
      if (foldedName.includes(needle)) this.#counts.set(needle, count + 1)
    }
  }

  all(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }
}
