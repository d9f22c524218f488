/**
 * Key for natural order by bytes, in both databases and browsers. Numbers compare by value, in any script's digits;
 * case and accents are ignored, so the name must break ties.
 *
 * Empty only for an empty name; at most twice as long as the folded name.
 */
export function sortKey(name: string): string {
  return sortKeyOfFolded(foldName(name))
}

export function sortKeyOfFolded(folded: string): string {
  return withoutAccents(folded).replace(NUMBERS, comparable)
}

export function sortedByName<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  return items
    .map((item) => ({ item, name: nameOf(item), key: sortKey(nameOf(item)) }))
    .sort((a, b) => byCodePoints(a.key, b.key) || byCodePoints(a.name, b.name))
    .map(({ item }) => item)
}

const BEYOND_ASCII = /[^\0-\x7f]/
const NUMBERS = /\p{Nd}+/gu
const DIGIT = /\p{Nd}/u

/** Of Latin, Greek and Cyrillic. Other scripts' marks are vowels, which distinguish words. */
const ACCENTS = /[\u0300-\u036f]+/g

function withoutAccents(folded: string): string {
  if (!BEYOND_ASCII.test(folded)) return folded
  const plain = folded.normalize('NFD').replace(ACCENTS, '').normalize('NFC')
  return plain === '' ? folded : plain
}

function comparable(number: string): string {
  let digits = ''
  for (const digit of number) digits += digitValue(digit)
  const significant = digits.replace(/^0+/, '')
  return lengthMark(significant.length) + significant
}

/** Prefix code in digits, so that numbers sort among digits: 8 is 8, 9 is 90, 18 is 990. */
function lengthMark(length: number): string {
  return '9'.repeat(Math.floor(length / 9)) + (length % 9)
}

/** A script's ten digits are consecutive in Unicode, but blocks of scripts may be adjacent. */
function digitValue(digit: string): number {
  const point = digit.codePointAt(0) ?? 0
  let first = point
  while (DIGIT.test(String.fromCodePoint(first - 1))) first--
  return (point - first) % 10
}

/** Order of UTF-8 bytes. JavaScript's UTF-16 order puts U+FFFD after an emoji. */
function byCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at === length ? a.length - b.length : rankAt(a, at) - rankAt(b, at)
}

/** Surrogates rank highest: they encode code points above U+FFFF. */
function rankAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

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
