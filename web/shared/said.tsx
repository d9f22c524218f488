import { useEffect, useState } from 'react'

/** Something that was said. The same words are said again when the object is another. */
export interface Saying {
  readonly text: string
}

/** Milliseconds for which it is said that all went well. */
export const SAID_FOR = 10_000

/** What is said once, and goes away by itself; it stands among the `.notices` of a page. */
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
