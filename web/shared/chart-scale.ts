/** What is drawn: whole numbers, or bytes in units of 1024. */
export type Measure = 'count' | 'bytes'

const KIBI = 1024

/** A round number at or above the greatest value, of which the half is round as well: where an axis ends. */
export function topOf(values: readonly number[], measure: Measure): number {
  const greatest = Math.max(0, ...values)
  if (measure === 'count') return roundUp(greatest)
  let unit = 1
  while (greatest > unit * 1000) unit *= KIBI
  return roundUp(greatest / unit) * unit
}

/** 2, 4, 6, 8, 10, 20, 40 and so on. */
function roundUp(value: number): number {
  let step = 2
  while (value > step * 5) step *= 10
  return Math.max(step, Math.ceil(value / step) * step)
}
