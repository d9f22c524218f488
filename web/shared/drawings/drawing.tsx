import { type DrawingName, drawings } from './drawings.ts'

/** Accompanies an equivalent text: hidden from screen readers. */
export function Drawing({ of, size = 20 }: { of: DrawingName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      className="drawing"
      fill="none"
      height={size}
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.75"
      viewBox="0 0 24 24"
      width={size}
    >
      <path d={drawings[of]} />
    </svg>
  )
}
