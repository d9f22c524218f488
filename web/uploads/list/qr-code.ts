import { encode } from 'uqr'

export interface Modules {
  readonly size: number
  readonly path: string
}

/** Quiet zone in modules, which readers need. */
const BORDER = 3

export function modulesOf(text: string): Modules {
  const { data, size } = encode(text, { border: BORDER, ecc: 'M' })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return { size, path }
}
