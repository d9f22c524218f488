import { encode } from 'uqr'

/** The dark modules of a QR code, in a square of `size` units. */
export interface Modules {
  readonly size: number
  readonly path: string
}

/** Modules of white around it, which readers need. */
const BORDER = 3

export function modulesOf(text: string): Modules {
  const { data, size } = encode(text, { border: BORDER, ecc: 'M' })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return { size, path }
}
