/** What is drawn: whole numbers, or bytes in units of 1024. */
export type Measure = 'count' | 'bytes'

const KIBI = 1024

/** A round number at or above the greatest value, of which the half is whole as well: where an axis ends. */
export function topOf(values: readonly number[], measure: Measure): number {
  const greatest = Math.max(0, ...values)
  if (measure === 'count') return roundUp(greatest)
  let unit = 1
  while (greatest > unit * 1000) unit *= KIBI
  return roundUp(greatest / unit) * unit
}

/** 2, 4, 6, 8, 10, 20, 30 and so on to 100, 200, 300. */
function roundUp(value: number): number {
  let step = value > 10 ? 10 : 2
  while (value > step * 10) step *= 10
  return Math.max(step, Math.ceil(value / step) * step)
}
