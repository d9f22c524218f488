const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']
const SIZE = /^(\d+(?:\.\d+)?)\s*([KMGT]?B)?$/i

/**
 * Bytes of a size as people write it: `12345`, `500MB`, `1.5 GB`. Units are B, KB, MB, GB and TB in either case, each
 * 1024 times the one before. The result is rounded to whole bytes; null when the text is not a size, is part of a
 * byte (`1.5`, `1.5B`), or is too large to count exactly.
 */
export function parseSize(text: string): number | null {
  const [, digits, unit = 'B'] = SIZE.exec(text.trim()) ?? []
  if (digits === undefined) return null
  const power = UNITS.indexOf(unit.toUpperCase())
  if (power === 0 && digits.includes('.')) return null
  const bytes = Math.round(Number(digits) * 1024 ** power)
  return Number.isSafeInteger(bytes) ? bytes : null
}

/** A size for people, in the same 1024-based units with at most one decimal: `0 B`, `1.5 GB`, `10 GB`. */
export function formatSize(bytes: number): string {
  const { value, unit } = scaleSize(bytes)
  return `${value} ${unit}`
}

/** `formatSize` in two parts, for callers that format the number themselves. */
export function scaleSize(bytes: number): { readonly value: number; readonly unit: string } {
  let value = bytes
  let power = 0
  while (power < UNITS.length - 1 && isNextUnit(value, power)) {
    value /= 1024
    power += 1
  }
  return { value: Math.round(value * 10) / 10, unit: UNITS[power] ?? '' }
}

/**
 * From 1000 on a value is 1 of the next unit, as four digits are hard to read. Bytes are counted to the end, and exactly 1000,
 * as a limit may be set, stays.
 */
function isNextUnit(value: number, power: number): boolean {
  return value >= 1024 || (power > 0 && value >= 999.95 && value !== 1000)
}
