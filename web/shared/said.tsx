import { useEffect, useState } from 'react'

/** A new object repeats the announcement. */
export interface Saying {
  readonly text: string
}

/** Milliseconds for which a success is shown. */
export const SAID_FOR = 10_000

export function Said({ saying }: { saying: Saying }) {
  const [shown, setShown] = useState({ text: '', count: 0 })
  useEffect(() => {
    setShown(({ count }) => ({ text: saying.text, count: count + 1 }))
    const timer = setTimeout(() => setShown(({ count }) => ({ text: '', count })), SAID_FOR)
    return () => clearTimeout(timer)
  }, [saying])
  return (
    <div className={shown.text === '' ? 'off-screen' : 'notice'} role="status">
      <p key={shown.count}>{shown.text}</p>
    </div>
  )
}
