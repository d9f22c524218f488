/** Kind of values: integers, or bytes in units of 1024. */
export type Measure = 'count' | 'bytes'

const KIBI = 1024

/** End of the axis: a round number not below the greatest value, whose half is an integer too. */
export function topOf(values: readonly number[], measure: Measure): number {
  const greatest = Math.max(0, ...values)
  if (measure === 'count') return roundUp(greatest)
  let unit = 1
  while (greatest > unit * 1000) unit *= KIBI
  return roundUp(greatest / unit) * unit
}

/** Rounds up to 2, 4, 6, 8, 10, 20, 30 and so on to 100, 200, 300. */
function roundUp(value: number): number {
  let step = value > 10 ? 10 : 2
  while (value > step * 10) step *= 10
  return Math.max(step, Math.ceil(value / step) * step)
}
