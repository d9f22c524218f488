import { useEffect, useRef, useState } from 'react'
import { toClipboard } from '../../shared/clipboard.ts'
import { Drawing } from '../../shared/drawings/drawing.tsx'

interface CopyActionProps {
  /** Null until there is something to copy. */
  readonly text: string | null
  readonly label: string
  readonly copied: string
  readonly isMain?: boolean
  /** By the page itself, a moment ago. */
  readonly wasCopied?: boolean
}

/** Milliseconds. */
const MOMENT = 2000

export function CopyAction({ text, label, copied, isMain = false, wasCopied = false }: CopyActionProps) {
  const [isCopied, setIsCopied] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  function say(): void {
    setIsCopied(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(setIsCopied, MOMENT, false)
  }
  useEffect(() => {
    if (wasCopied) say()
  }, [wasCopied])

  async function copy(): Promise<void> {
    if (text !== null && (await toClipboard(text))) say()
  }

  return (
    <>
      <button
        aria-label={isMain ? undefined : label}
        className={isMain ? 'button copy-link' : 'icon-button'}
        disabled={text === null}
        onClick={() => void copy()}
        title={isMain ? undefined : label}
        type="button"
      >
        <Drawing of={isCopied ? 'check' : 'copy'} />
        {isMain ? (
          // Both words take room, so that the button keeps its width.
          <span className="copy-words">
            <span data-shown={!isCopied || undefined}>{label}</span>
            <span aria-hidden={!isCopied} data-shown={isCopied || undefined}>
              {copied}
            </span>
          </span>
        ) : null}
      </button>
      {/* Few screen readers announce that a button was renamed. */}
      <span className="off-screen" role="status">
        {isCopied ? copied : ''}
      </span>
    </>
  )
}
