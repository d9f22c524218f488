import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { Drawing } from '../shared/drawing.tsx'
import { type Place, TOP } from './entry.ts'
import { useFiles } from './files-context.ts'
import { type Branch, branches, createFolderTree, treeMove } from './folder-tree.ts'

interface FolderTreeViewProps {
  /** The folder that is listed, or chosen. */
  readonly at: Place
  readonly choose: (place: Place) => void
  /** Whether entries and files can be dropped on folders here. */
  readonly drops?: boolean
  /** Folders that cannot be chosen. */
  readonly isClosed?: (place: Place) => boolean
}

const NOTHING = createFolderTree([], 'en')

/** The tree of folders: one of its lines can be reached by the tab key, and the arrows go on from there. */
export function FolderTreeView({ at, choose, drops = false, isClosed }: FolderTreeViewProps) {
  const { texts, shown } = useFiles()
  const tree = shown.tree ?? NOTHING
  const [open, setOpen] = useState<ReadonlySet<Place>>(new Set())
  const [focus, setFocus] = useState<Place>(at)
  const lines = useRef(new Map<Place, HTMLElement>())
  const rows = useMemo(() => branches(tree, open), [tree, open])

  useEffect(() => {
    setFocus(at)
    setOpen(
      (before) =>
        new Set([
          ...before,
          ...tree
            .path(at)
            .slice(0, -1)
            .map(({ id }) => id),
        ]),
    )
  }, [tree, at])

  function setIsOpen(place: Place, isOpen: boolean): void {
    const next = new Set(open)
    if (isOpen) next.add(place)
    else next.delete(place)
    setOpen(next)
  }

  function press(event: KeyboardEvent, { id }: Branch): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      if (isClosed?.(id) !== true) choose(id)
      return
    }
    const move = treeMove(event.key, rows, id)
    if (move === null) return
    event.preventDefault()
    if (move.kind === 'focus') {
      setFocus(move.id)
      lines.current.get(move.id)?.focus()
    } else setIsOpen(move.id, move.kind === 'open')
  }

  const reached = rows.some(({ id }) => id === focus) ? focus : TOP
  return (
    <ul aria-label={texts.folders} className="tree" role="tree">
      {rows.map((branch) => (
        <li
          aria-disabled={isClosed?.(branch.id) === true ? true : undefined}
          aria-expanded={branch.folder === null ? undefined : (branch.isOpen ?? undefined)}
          aria-level={branch.level}
          aria-posinset={branch.position}
          aria-selected={branch.id === at}
          aria-setsize={branch.siblings}
          className="branch"
          data-drop={drops ? branch.id : undefined}
          key={branch.id}
          onClick={() => {
            if (isClosed?.(branch.id) !== true) choose(branch.id)
          }}
          onFocus={() => setFocus(branch.id)}
          onKeyDown={(event) => press(event, branch)}
          ref={(element) => {
            if (element === null) lines.current.delete(branch.id)
            else lines.current.set(branch.id, element)
          }}
          role="treeitem"
          style={{ paddingInlineStart: `${(branch.level - 1) * 16 + 4}px` }}
          tabIndex={branch.id === reached ? 0 : -1}
        >
          <span
            className="twig"
            data-open={branch.isOpen ?? undefined}
            onClick={(event) => {
              if (branch.isOpen === null || branch.folder === null) return
              event.stopPropagation()
              setIsOpen(branch.id, !branch.isOpen)
            }}
          >
            {branch.isOpen === null || branch.folder === null ? null : <Drawing of="right" size={16} />}
          </span>
          <Drawing of={branch.folder === null ? 'holdfast' : 'folder'} />
          <bdi className="branch-name">{branch.folder?.name ?? texts.top}</bdi>
          {branch.folder !== null && !branch.folder.isPublic ? <Drawing of="hidden" size={16} /> : null}
          {branch.folder?.hasPassword === true ? <Drawing of="lock" size={16} /> : null}
        </li>
      ))}
    </ul>
  )
}
