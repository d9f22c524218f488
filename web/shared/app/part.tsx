import { type ReactNode, useId } from 'react'

interface PartProps {
  readonly title: string
  readonly why?: string
  readonly children: ReactNode
}

export function PageSection({ title, why, children }: PartProps) {
  const heading = useId()
  return (
    <section aria-labelledby={heading} className="part">
      <h2 id={heading}>{title}</h2>
      {why === undefined ? null : <p className="quiet">{why}</p>}
      {children}
    </section>
  )
}
