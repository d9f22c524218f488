import { foldName } from './folded-name.ts'

/**
 * Sort key of a name, for both databases and browsers: compared byte by byte, keys give the natural order of
 * names. Numbers compare by value, in the digits of any script; case and accents are ignored. Names that
 * differ only in those share a key, so the name itself must be the tie-breaker.
 *
 * Empty only for an empty name; at most twice as long as the folded name.
 */
export function sortKey(name: string): string {
  return sortKeyOfFolded(foldName(name))
}

/** `sortKey` for a name that is folded already. */
export function sortKeyOfFolded(folded: string): string {
  return withoutAccents(folded).replace(NUMBERS, comparable)
}

/** Sorts items by sort key and then by name, as databases sort folders. */
export function sortedByName<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  return items
    .map((item) => ({ item, name: nameOf(item), key: sortKey(nameOf(item)) }))
    .sort((a, b) => byCodePoints(a.key, b.key) || byCodePoints(a.name, b.name))
    .map(({ item }) => item)
}

const BEYOND_ASCII = /[^\0-\x7f]/
const NUMBERS = /\p{Nd}+/gu
const DIGIT = /\p{Nd}/u

/**
 * Combining accents of Latin, Greek and Cyrillic. Marks of other scripts are vowels, which distinguish words.
 */
const ACCENTS = /[\u0300-\u036f]+/g

function withoutAccents(folded: string): string {
  if (!BEYOND_ASCII.test(folded)) return folded
  const plain = folded.normalize('NFD').replace(ACCENTS, '').normalize('NFC')
  return plain === '' ? folded : plain
}

/** The number's significant ASCII digits, prefixed with their count. */
function comparable(number: string): string {
  let digits = ''
  for (const digit of number) digits += digitValue(digit)
  const significant = digits.replace(/^0+/, '')
  return lengthMark(significant.length) + significant
}

/**
 * Prefix code for the count, made of digits so that numbers sort among digits: 8 is 8, 9 is 90, 18 is 990.
 */
function lengthMark(length: number): string {
  return '9'.repeat(Math.floor(length / 9)) + (length % 9)
}

/**
 * Value of a digit. The ten digits of a script are consecutive in Unicode, and blocks of several scripts may
 * be adjacent.
 */
function digitValue(digit: string): number {
  const point = digit.codePointAt(0) ?? 0
  let first = point
  while (DIGIT.test(String.fromCodePoint(first - 1))) first--
  return (point - first) % 10
}

/**
 * Compares in the order of UTF-8 bytes. JavaScript compares UTF-16 units, which puts U+FFFD after an emoji.
 */
function byCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at === length ? a.length - b.length : rankAt(a, at) - rankAt(b, at)
}

/** Ranks surrogates above every other unit, because they encode the code points above U+FFFF. */
function rankAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
