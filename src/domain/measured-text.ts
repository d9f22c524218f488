/** Longest decomposition of an NFC character. */
export const RAW_FACTOR = 4

/** In code points. Time grows with `most`, not with the text. */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length <= most) return false
  if (text.length > 2 * most) return true
  return [...text].length > most
}

/** Null if longer. Normalization is quadratic in runs of combining marks, so untrusted text is measured first. */
export function boundedNfc(text: string, most: number): string | null {
  if (isLongerThan(text, RAW_FACTOR * most)) return null
  const normal = text.normalize('NFC')
  return isLongerThan(normal, most) ? null : normal
}
