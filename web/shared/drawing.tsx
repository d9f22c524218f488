import { mark } from './mark.ts'

const paths = {
  check: 'M4.5 12.5l5 5 10-11',
  copy: 'M8.5 8.5h10A1.5 1.5 0 0 1 20 10v10a1.5 1.5 0 0 1-1.5 1.5h-10A1.5 1.5 0 0 1 7 20V10a1.5 1.5 0 0 1 1.5-1.5zM4.5 16A1.5 1.5 0 0 1 3 14.5V4.5A1.5 1.5 0 0 1 4.5 3h10A1.5 1.5 0 0 1 16 4.5',
  download: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 20h14',
  qr: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 14h2M14 18v2M18 18h2v2h-2z',
  upload: 'M12 16V5M7.5 9.5L12 5l4.5 4.5M5 20h14',
  folder:
    'M3 18.5v-12A1.5 1.5 0 0 1 4.5 5H9l2.5 2.5h8A1.5 1.5 0 0 1 21 9v9.5a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 18.5z',
  lock: 'M6.5 10.5h11A1.5 1.5 0 0 1 19 12v7a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 5 19v-7a1.5 1.5 0 0 1 1.5-1.5zM8 10.5V8a4 4 0 0 1 8 0v2.5M12 14.5v2',
  holdfast: mark,
} as const

/** A line drawing beside a text that says the same, so that it needs no name of its own. */
export function Drawing({ of, size = 20 }: { of: keyof typeof paths; size?: number }) {
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
      <path d={paths[of]} />
    </svg>
  )
}
