/** Case-folded for searches, in any script: ß is ss, every sigma σ, i with or without dot i. NFC; idempotent. */
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
      // Lower case first: ẞ has no upper case, ß has.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll('ς', 'σ')
      // İ lower-cased is an i with a second, combining dot.
      .replace(/i\u0307+/g, 'i')
      .normalize('NFC')
  )
}
