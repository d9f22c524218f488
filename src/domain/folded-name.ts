/**
 * Case-folded form of a name for searches: names that differ only in case, in any script, fold to the same
 * text. ß becomes ss, every sigma σ, and i with or without its dot i. In NFC; idempotent.
 */
export function foldName(name: string): string {
  let folded = name
  let before: string
  do {
    before = folded
    folded = foldOnce(folded)
  } while (folded !== before)
  return folded
}

function foldOnce(name: string): string {
  return (
    name
      .normalize('NFC')
      // Lower case first: ẞ has no upper case of its own, while ß has.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll('ς', 'σ')
      // İ lower-cased is an i with a second, combining dot.
      .replace(/i\u0307+/g, 'i')
      .normalize('NFC')
  )
}
