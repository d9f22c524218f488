/** No character of NFC comes from more than four, so a name in decomposed form is at most four times as long. */
export const RAW_FACTOR = 4

/** Whether the text has more than so many characters, which are code points. Costs no more than `most`. */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length <= most) return false
  if (text.length > 2 * most) return true
  return [...text].length > most
}

/**
 * The text in NFC, or null when it has more than `most` characters: after normalising, or four times as many before.
 * Normalising takes the square of a run of combining marks, so nothing from outside is normalised before it is measured.
 */
export function boundedNfc(text: string, most: number): string | null {
  if (isLongerThan(text, RAW_FACTOR * most)) return null
  const normal = text.normalize('NFC')
  return isLongerThan(normal, most) ? null : normal
}
