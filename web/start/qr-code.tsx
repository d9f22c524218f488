import { encode } from 'uqr'

/** Modules of white around it, which readers need. */
const BORDER = 3

/** The text as a QR code, dark on light in both colour schemes. */
export default function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(text, { border: BORDER, ecc: 'M' })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg
      aria-label={label}
      className="qr"
      role="img"
      shapeRendering="crispEdges"
      viewBox={`0 0 ${size} ${size}`}
    >
      <path d={path} />
    </svg>
  )
}
