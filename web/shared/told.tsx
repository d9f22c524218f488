import { Fragment, type ReactNode, useEffect, useState } from 'react'

interface ToldProps {
  readonly children: ReactNode
  readonly className?: string
}

/** Milliseconds for a screen reader to notice a new region. */
const NOTICED = 100

/**
 * Text that is announced when it changes, and also when it comes: of a region that is inserted together with its text
 * most screen readers say nothing, so that its text is inserted once more.
 */
export function Told({ children, className }: ToldProps) {
  const [isNoticed, setIsNoticed] = useState(false)
  useEffect(() => {
    const timer = setTimeout(setIsNoticed, NOTICED, true)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className={className} role="status">
      <Fragment key={String(isNoticed)}>{children}</Fragment>
    </div>
  )
}
