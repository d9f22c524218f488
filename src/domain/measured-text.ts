/** Longest decomposition of one NFC character, so a decomposed name is at most four times as long. */
export const RAW_FACTOR = 4

/** Whether the text has more than `most` code points. Costs time in `most`, not in the length of the text. */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length <= most) return false
  if (text.length > 2 * most) return true
  return [...text].length > most
}

/**
 * The text in NFC, or null when it has more than `most` characters after normalization, or four times as many
 * before. Normalization takes quadratic time in a run of combining marks, so untrusted text must be measured
 * first.
 */
export function boundedNfc(text: string, most: number): string | null {
  if (isLongerThan(text, RAW_FACTOR * most)) return null
  const normal = text.normalize('NFC')
  return isLongerThan(normal, most) ? null : normal
}
