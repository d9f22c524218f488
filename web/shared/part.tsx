import { type ReactNode, useId } from 'react'

interface PartProps {
  readonly title: string
  readonly why?: string
  readonly children: ReactNode
}

/** One subject of a page: a heading, a sentence, and what can be done. */
export function Part({ title, why, children }: PartProps) {
  const heading = useId()
  return (
    <section aria-labelledby={heading} className="part">
      <h2 id={heading}>{title}</h2>
      {why === undefined ? null : <p className="quiet">{why}</p>}
      {children}
    </section>
  )
}
