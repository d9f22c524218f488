import { Fragment } from 'react'

export interface ChartPart {
  readonly name: string
  readonly size: number
  readonly href?: string
}

interface PartsProps {
  readonly parts: readonly ChartPart[]
  readonly format: (size: number) => string
  /** 100 percent; may exceed the sum. */
  readonly whole: number
}

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
        {parts.map(({ name, size }, index) =>
          size === 0 ? null : (
            <li data-part={index} key={name}>
              <span>{name}</span>
              <span className="quiet">{format(size)}</span>
            </li>
          ),
        )}
      </ul>
    </>
  )
}

export function PartsList({ parts, format, whole }: PartsProps) {
  return (
    <dl className="parts-list">
      {parts.map(({ name, size, href }, index) => (
        // Names need not be unique.
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

function sizeOf(parts: readonly ChartPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0)
}
