import { Fragment, type ReactNode, useEffect, useState } from 'react'

interface ToldProps {
  readonly children: ReactNode
  readonly className?: string
}

/** Milliseconds for a screen reader to notice a new region. */
const NOTICED = 100

/** Most screen readers ignore a region inserted with its text, so the text is inserted once more. */
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
