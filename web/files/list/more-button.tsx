import { Drawing } from '../../shared/drawings/drawing.tsx'
import { fill } from '../../shared/words.ts'
import { useFiles } from '../files-context.ts'
import type { LineProps } from './line-props.ts'

interface MoreButtonProps {
  readonly name: string
  readonly row: number
  readonly openMenu: LineProps['openMenu']
}

/** For touch; the keyboard opens the menu from the row. */
export function MoreButton({ name, row, openMenu }: MoreButtonProps) {
  const { texts } = useFiles()
  return (
    <button
      aria-haspopup="menu"
      aria-label={fill(texts.moreOf, { name })}
      className="icon-button more"
      onClick={(event) => {
        event.stopPropagation()
        // The menu returns the focus to the row, and scrolling would close it.
        event.currentTarget.closest<HTMLElement>('[data-row]')?.focus({ preventScroll: true })
        openMenu(row, event.currentTarget.getBoundingClientRect())
      }}
      onDoubleClick={(event) => event.stopPropagation()}
      tabIndex={-1}
      type="button"
    >
      <Drawing of="dots" />
    </button>
  )
}
