/**
 * The mark of the product, kelp rooted on a stone. It takes hold once, in 400 ms, when it gets the attribute `data-held`
 * (see `takeHold` for the one in the head of the page); with reduced motion it only takes the colour of what is safe.
 */
export function Mark({ size = 24, isHeld = false }: { size?: number; isHeld?: boolean }) {
  return (
    <svg
      aria-hidden="true"
      className="mark"
      data-held={isHeld || undefined}
      fill="none"
      height={size}
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.75"
      viewBox="0 0 24 24"
      width={size}
    >
      <path className="mark-stone" d="M3.5 21.5c2-6 15-6 17 0z" />
      <g className="mark-kelp">
        <path
          className="mark-leaf"
          d="M12 9.5C8.2 9.5 6.2 7.2 6 3.5c3.7.2 6 2.2 6 6zM12 7.5c0-3 2-4.8 5.5-5 .1 3.3-1.9 5-5.5 5z"
        />
        <path d="M12 12V6M12 12c-3 .3-5.5 2.5-6 6M12 12c3 .3 5.5 2.5 6 6M12 12v5" />
      </g>
    </svg>
  )
}
