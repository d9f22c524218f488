import { Fragment } from 'react'

/** A part of a whole, in bytes or whatever else `size` writes. */
export interface Part {
  readonly name: string
  readonly size: number
  /** Leads to what it is made of. */
  readonly href?: string
}

interface PartsProps {
  readonly parts: readonly Part[]
  readonly format: (size: number) => string
  /** What the parts are of: together with them it may be more than they are. */
  readonly whole: number
}

/** One bar of all parts, and beside it the list that says what they are: the bar alone tells nobody anything. */
export function PartsBar({ parts, format, whole }: PartsProps) {
  return (
    <>
      <svg aria-hidden="true" className="parts-bar">
        {parts.map(({ name, size }, index) => (
          <rect
            data-part={index}
            height="100%"
            key={name}
            width={`${shareOf(size, whole)}%`}
            x={`${shareOf(sizeOf(parts.slice(0, index)), whole)}%`}
          />
        ))}
      </svg>
      <ul className="legend">
        {parts.map((part, index) => (
          <li data-part={index} key={part.name}>
            <span>{part.name}</span>
            <span className="quiet">{format(part.size)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** A bar for each part, to compare them. */
export function PartsList({ parts, format, whole }: PartsProps) {
  return (
    <dl className="parts-list">
      {parts.map(({ name, size, href }, index) => (
        // Names may be the same.
        <Fragment key={index}>
          <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
          <dd>
            <svg aria-hidden="true" className="parts-one">
              <rect data-part="0" height="100%" rx="3" width={`${shareOf(size, whole)}%`} />
            </svg>
            <span>{format(size)}</span>
          </dd>
        </Fragment>
      ))}
    </dl>
  )
}

/** In percent. */
function shareOf(size: number, whole: number): number {
  return whole <= 0 ? 0 : Math.min(100, (100 * size) / whole)
}

function sizeOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0)
}
