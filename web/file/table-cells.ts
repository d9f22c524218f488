/** `1 234,5`, `-0.5`, `12 %`, with a point or a comma before the fraction. */
const NUMBER = /^[-+−]?\d{1,3}(?:[ \u00a0\u202f'’]?\d{3})*\d*(?:[.,]\d+)?\s?%?$/

export function isNumber(text: string): boolean {
  return NUMBER.test(text.trim())
}

type Compare = (a: readonly string[], b: readonly string[], turn: 1 | -1) => number

/** By a column: numbers by their value, before texts; empty cells last, whatever the direction. */
export function compareCells(locale: string, column: number): Compare {
  const { compare } = new Intl.Collator(locale, { numeric: true })
  return (a, b, turn) => {
    const [one, other] = [(a[column] ?? '').trim(), (b[column] ?? '').trim()]
    if (one === '' || other === '') return Number(one === '') - Number(other === '')
    const [left, right] = [isNumber(one), isNumber(other)]
    if (left && right) return turn * (numberIn(one) - numberIn(other))
    return turn * (left === right ? compare(one, other) : Number(right) - Number(left))
  }
}

function numberIn(text: string): number {
  const plain = text.replace(/[^\d.,+−-]/g, '').replace('−', '-')
  return Number(plain.replace(',', '.'))
}
