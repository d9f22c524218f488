import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { toClipboard } from '../../shared/clipboard.ts'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { focusIt } from '../../shared/focus-it.ts'
import { createMenuKeys } from '../../shared/menus/menu-keys.ts'
import { pressInMenu } from '../../shared/menus/press-in-menu.ts'
import { fill } from '../../shared/words.ts'
import type { UploadEngine } from '../../uploads/engine.ts'
import type { StartAppTexts } from '../../uploads/texts.ts'
import { placeBeside } from '../transfer/popover.tsx'
import type { RowCommand } from './row-commands.ts'

interface RowMenuProps {
  readonly commands: readonly RowCommand[]
  readonly name: string
  readonly engine: UploadEngine
  readonly choose: () => void
  readonly texts: StartAppTexts
}

/** The one menu of a row. */
export function RowMenu({ commands, name, engine, choose, texts }: RowMenuProps) {
  const id = useId()
  const menu = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const keys = useRef(createMenuKeys())
  // Its items are rendered once it opens: there may be thousands of rows.
  const [isOpen, setIsOpen] = useState(false)

  const items = () => [...(menu.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])]

  function pressed(event: KeyboardEvent): void {
    const move = pressInMenu(keys.current, event.nativeEvent, items())
    if (move === null) return
    event.preventDefault()
    if (move.kind === 'leave') close()
  }

  function close(): void {
    menu.current?.hidePopover()
    button.current?.focus()
  }

  return (
    <>
      <button
        aria-expanded={isOpen}
        aria-haspopup="menu"
        aria-label={fill(texts.transfer.more, { name })}
        className="icon-button row-menu"
        popoverTarget={id}
        ref={button}
        type="button"
      >
        <Drawing of="dots" />
      </button>
      <div
        aria-label={fill(texts.transfer.more, { name })}
        className="menu popover-menu"
        id={id}
        onBeforeToggle={({ currentTarget, newState }) => {
          if (newState === 'open') placeBeside(currentTarget)
        }}
        onKeyDown={pressed}
        onToggle={({ newState }) => {
          keys.current = createMenuKeys()
          setIsOpen(newState === 'open')
        }}
        popover="auto"
        ref={menu}
        role="menu"
        tabIndex={-1}
      >
        {isOpen
          ? commands.map((command, at) => (
              <MenuItem
                close={close}
                command={command}
                choose={choose}
                engine={engine}
                isFirst={at === 0}
                key={command.label}
              />
            ))
          : null}
      </div>
    </>
  )
}

interface MenuItemProps extends Pick<RowMenuProps, 'engine' | 'choose'> {
  readonly command: RowCommand
  readonly isFirst: boolean
  readonly close: () => void
}

function MenuItem({ command, isFirst, engine, choose, close }: MenuItemProps) {
  const common = {
    className: 'menu-item',
    ref: isFirst ? focusIt : undefined,
    role: 'menuitem',
    tabIndex: -1,
  } as const
  if (command.kind === 'link') {
    return (
      <a {...common} href={command.href} onClick={close} target={command.target}>
        <Drawing of="open" />
        {command.label}
      </a>
    )
  }
  return (
    <button
      {...common}
      data-deletion={(command.kind === 'act' && command.isDeletion) || undefined}
      onClick={() => {
        // Copying needs the focus in the page, and the action may take the row away.
        close()
        if (command.kind === 'act') engine.act(command.act)
        else if (command.kind === 'copy') void toClipboard(command.text)
        else choose()
      }}
      type="button"
    >
      <Drawing of={command.kind === 'act' ? command.drawing : command.kind === 'copy' ? 'copy' : 'file'} />
      {command.label}
    </button>
  )
}
