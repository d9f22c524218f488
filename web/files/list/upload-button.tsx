import { Button } from '@mantine/core'
import { type ChangeEvent, type KeyboardEvent, useCallback, useId, useRef } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { createMenuKeys } from '../../shared/menus/menu-keys.ts'
import { menuPlace } from '../../shared/menus/menu-place.ts'
import { pressInMenu } from '../../shared/menus/press-in-menu.ts'
import type { UploadEngine } from '../../uploads/engine.ts'
import { hasPicker, pickFiles } from '../../uploads/file-picker.ts'
import type { Picked } from '../../uploads/picked.ts'
import { uploadFolder } from '../entry.ts'
import { useFiles } from '../files-context.ts'

export function UploadButton({ engine }: { engine: UploadEngine }) {
  const { texts, shown } = useFiles()
  const { actions } = texts
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement | null>(null)
  const add = (picked: readonly Picked[]) => engine.add(picked, uploadFolder(shown.query.place))

  function chooseFiles(): void {
    if (!hasPicker()) {
      files.current?.click()
      return
    }
    const into = uploadFolder(shown.query.place)
    void pickFiles().then(({ files: picked, unreadable }) => {
      if (unreadable.length > 0) engine.act((list) => list.refuse(unreadable, into))
      engine.add(picked, into)
    })
  }

  function chosen({ currentTarget }: ChangeEvent<HTMLInputElement>): void {
    const all = [...(currentTarget.files ?? [])]
    add(all.map((file) => ({ file, handle: null, path: file.webkitRelativePath || null })))
    currentTarget.value = ''
  }

  const folderField = useCallback((element: HTMLInputElement | null) => {
    element?.toggleAttribute('webkitdirectory', true)
    folder.current = element
  }, [])
  const field = { 'aria-hidden': true, hidden: true, multiple: true, onChange: chosen, tabIndex: -1 }
  return (
    <div className="upload-buttons">
      <Button className="tool" leftSection={<Drawing of="upload" />} onClick={chooseFiles}>
        {actions.upload}
      </Button>
      <UploadMenu
        items={[
          { label: actions.uploadFiles, choose: chooseFiles },
          { label: actions.uploadFolder, choose: () => folder.current?.click() },
        ]}
        label={actions.uploadMore}
      />
      <input {...field} className="upload-field" ref={files} type="file" />
      <input {...field} ref={folderField} type="file" />
    </div>
  )
}

interface UploadMenuProps {
  readonly label: string
  readonly items: readonly { readonly label: string; readonly choose: () => void }[]
}

function UploadMenu({ label, items }: UploadMenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const keys = useRef(createMenuKeys())

  function open(): void {
    if (menu.current === null || button.current === null) return
    keys.current = createMenuKeys()
    menu.current.showPopover()
    const window = { width: document.documentElement.clientWidth, height: innerHeight }
    const place = menuPlace(
      button.current.getBoundingClientRect(),
      menu.current.getBoundingClientRect(),
      window,
    )
    menu.current.style.left = `${place.left}px`
    menu.current.style.top = `${place.top}px`
    itemsOf(menu.current)[0]?.focus()
  }

  function leave(): void {
    menu.current?.hidePopover()
    button.current?.focus()
  }

  function press(event: KeyboardEvent): void {
    const move = pressInMenu(keys.current, event, itemsOf(menu.current))
    if (move === null) return
    event.preventDefault()
    if (move.kind === 'leave') leave()
  }

  return (
    <>
      <Button
        aria-controls={id}
        aria-haspopup="menu"
        aria-label={label}
        className="tool upload-more"
        onClick={open}
        ref={button}
      >
        <Drawing of="chevron" size={16} />
      </Button>
      <div
        aria-label={label}
        className="menu"
        id={id}
        onKeyDown={press}
        popover="auto"
        ref={menu}
        role="menu"
      >
        {items.map((item, index) => (
          <button
            className="menu-item"
            key={item.label}
            onClick={() => {
              leave()
              item.choose()
            }}
            role="menuitem"
            tabIndex={-1}
            type="button"
          >
            <Drawing of={index === 0 ? 'file' : 'folder'} />
            <span className="menu-label">{item.label}</span>
          </button>
        ))}
      </div>
    </>
  )
}

function itemsOf(menu: HTMLElement | null): HTMLElement[] {
  return [...(menu?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])]
}
