const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']
const SIZE = /^(\d+(?:\.\d+)?)\s*([KMGT]?B)?$/i

/**
 * Whole bytes of `12345`, `500MB`, `1.5 GB`: B, KB, MB, GB or TB in either case, factor 1024. Null for malformed sizes,
 * parts of a byte (`1.5`, `1.5B`), and sizes too large to count exactly.
 */
export function parseSize(text: string): number | null {
  const [, digits, unit = 'B'] = SIZE.exec(text.trim()) ?? []
  if (digits === undefined) return null
  const power = UNITS.indexOf(unit.toUpperCase())
  if (power === 0 && digits.includes('.')) return null
  const bytes = Math.round(Number(digits) * 1024 ** power)
  return Number.isSafeInteger(bytes) ? bytes : null
}

/** Factor 1024, at most one decimal: `0 B`, `1.5 GB`, `10 GB`. */
export function formatSize(bytes: number): string {
  const { value, unit } = scaleSize(bytes)
  return `${value} ${unit}`
}

export function scaleSize(bytes: number): { readonly value: number; readonly unit: string } {
  let value = bytes
  let power = 0
  while (power < UNITS.length - 1 && isNextUnit(value, power)) {
    value /= 1024
    power += 1
  }
  return { value: Math.round(value * 10) / 10, unit: UNITS[power] ?? '' }
}

/** Four digits are hard to read, so 1000 takes the next unit; not bytes, and not exactly 1000, as in a limit. */
function isNextUnit(value: number, power: number): boolean {
  return value >= 1024 || (power > 0 && value >= 999.95 && value !== 1000)
}
