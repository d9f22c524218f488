/** Integers, or bytes in units of 1024. */
export type Measure = 'count' | 'bytes'

const KIBI = 1024

/** A round number not below the greatest value, whose half is an integer too. */
export function topOf(values: readonly number[], measure: Measure): number {
  const greatest = Math.max(0, ...values)
  if (measure === 'count') return roundUp(greatest)
  let unit = 1
  while (greatest > unit * 1000) unit *= KIBI
  return roundUp(greatest / unit) * unit
}

function roundUp(value: number): number {
  let step = value > 10 ? 10 : 2
  while (value > step * 10) step *= 10
  return Math.max(step, Math.ceil(value / step) * step)
}
