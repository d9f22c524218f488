import { encode } from 'uqr'

/** Quiet zone in modules, which cameras need. */
const BORDER = 4

export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: BORDER, ecc: 'M' })
  return (
    <svg
      aria-label={label}
      className="qr-code"
      role="img"
      shapeRendering="crispEdges"
      viewBox={`0 0 ${size} ${size}`}
    >
      <path d={data.map(rowPath).join('')} fill="#000000" />
    </svg>
  )
}

function rowPath(row: readonly boolean[], y: number): string {
  let path = ''
  for (let x = 0; x < row.length; x += 1) {
    if (row[x] !== true) continue
    let end = x
    while (row[end] === true) end += 1
    path += `M${x} ${y}h${end - x}v1h${x - end}z`
    x = end
  }
  return path
}
