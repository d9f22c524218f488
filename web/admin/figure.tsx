interface FigureProps {
  readonly name: string
  readonly number: string
  readonly detail?: string
  /** It takes two columns. All together fill their rows, with two columns and with four. */
  readonly isWide?: boolean
  /** A path, or a place on this page. */
  readonly to: string
}

/** A number that leads to what is behind it. */
export function Figure({ name, number, detail, isWide = false, to }: FigureProps) {
  return (
    <li data-wide={isWide || undefined}>
      <a href={to}>
        <span className="small quiet">{name}</span>
        <span className="number">{number}</span>
        {detail === undefined ? null : <span className="small quiet">{detail}</span>}
      </a>
    </li>
  )
}
