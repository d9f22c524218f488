/** No two look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 3
const GROUP = 4

/** `fk3w-9tup-x2hm`: 59 bits. */
export function newLinkPassword(): string {
  const numbers = crypto.getRandomValues(new Uint32Array(GROUPS * GROUP))
  const letters = [...numbers].map((number) => LETTERS[number % LETTERS.length] ?? '')
  const groups = Array.from({ length: GROUPS }, (_, at) => letters.slice(at * GROUP, (at + 1) * GROUP))
  return groups.map((group) => group.join('')).join('-')
}
