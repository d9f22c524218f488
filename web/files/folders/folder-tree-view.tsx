import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { Mark } from '../../shared/drawings/mark.tsx'
import { type Place, TOP } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { branches, createFolderTree, type FolderTree, type TreeBranch, treeMove } from './folder-tree.ts'

interface FolderTreeViewProps {
  readonly at: Place
  readonly choose: (place: Place) => void
  readonly drops?: boolean
  readonly isClosed?: (place: Place) => boolean
}

const NOTHING = createFolderTree([])

/** One line is in the tab order; arrows move on from there (ARIA tree). */
export function FolderTreeView({ at, choose, drops = false, isClosed }: FolderTreeViewProps) {
  const { texts, shown } = useFiles()
  const tree = shown.tree ?? NOTHING
  const [open, setOpen] = useState<ReadonlySet<Place>>(() => new Set(above(tree, at)))
  const [focus, setFocus] = useState<Place>(at)
  const lines = useRef(new Map<Place, HTMLElement>())
  const rows = useMemo(() => branches(tree, open), [tree, open])

  useEffect(() => {
    setFocus(at)
    setOpen((before) => new Set([...before, ...above(tree, at)]))
  }, [tree, at])

  function setIsOpen(place: Place, isOpen: boolean): void {
    const next = new Set(open)
    if (isOpen) next.add(place)
    else next.delete(place)
    setOpen(next)
  }

  function pick(id: Place): void {
    if (isClosed?.(id) !== true) choose(id)
  }

  function press(event: KeyboardEvent, { id }: TreeBranch): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      pick(id)
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
        <BranchLine
          branch={branch}
          choose={() => pick(branch.id)}
          isClosed={isClosed?.(branch.id) === true}
          isDrop={drops}
          isHere={branch.id === at}
          isReached={branch.id === reached}
          key={branch.id}
          line={(element) => {
            if (element === null) lines.current.delete(branch.id)
            else lines.current.set(branch.id, element)
          }}
          onFocus={() => setFocus(branch.id)}
          press={(event) => press(event, branch)}
          setIsOpen={(isOpen) => setIsOpen(branch.id, isOpen)}
        />
      ))}
    </ul>
  )
}

function above(tree: FolderTree, place: Place): readonly Place[] {
  return tree
    .path(place)
    .slice(0, -1)
    .map(({ id }) => id)
}

interface BranchLineProps {
  readonly branch: TreeBranch
  readonly isHere: boolean
  readonly isClosed: boolean
  readonly isDrop: boolean
  readonly isReached: boolean
  readonly choose: () => void
  readonly onFocus: () => void
  readonly press: (event: KeyboardEvent) => void
  readonly setIsOpen: (isOpen: boolean) => void
  readonly line: (element: HTMLElement | null) => void
}

function BranchLine({ branch, isHere, isClosed, isDrop, isReached, ...on }: BranchLineProps) {
  const { texts } = useFiles()
  const { folder, isOpen, level } = branch
  const isTwig = isOpen !== null && folder !== null
  return (
    <li
      aria-disabled={isClosed ? true : undefined}
      aria-expanded={folder === null ? undefined : (isOpen ?? undefined)}
      aria-level={level}
      aria-posinset={branch.position}
      aria-selected={isHere}
      aria-setsize={branch.siblings}
      className="branch"
      data-autofocus={isReached || undefined}
      data-drop={isDrop ? branch.id : undefined}
      onClick={on.choose}
      onFocus={on.onFocus}
      onKeyDown={on.press}
      ref={on.line}
      role="treeitem"
      style={{ paddingInlineStart: `${(level - 1) * 16 + 4}px` }}
      tabIndex={isReached ? 0 : -1}
    >
      <span
        className="twig"
        data-open={isOpen ?? undefined}
        onClick={(event) => {
          if (!isTwig) return
          event.stopPropagation()
          on.setIsOpen(!isOpen)
        }}
      >
        {isTwig ? <Drawing of="right" size={16} /> : null}
      </span>
      {folder === null ? <Mark size={20} /> : <Drawing of="folder" />}
      <span className="branch-name">
        <bdi>{folder?.name ?? texts.top}</bdi>
      </span>
      {folder !== null && !folder.isPublic ? <Drawing of="hidden" size={16} /> : null}
      {folder?.hasPassword === true ? <Drawing of="lock" size={16} /> : null}
    </li>
  )
}
