import { Button } from '@mantine/core'
import { useCallback, useState } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import type { DrawingName } from '../../shared/drawings/drawings.ts'
import type { MenuAnchor } from '../../shared/menus/menu-place.ts'
import { useFiles } from '../files-context.ts'
import { ListFields, type ListFieldsProps } from '../list/list-fields.tsx'
import { networkText } from '../network-text.ts'
import type { ListProblem } from '../problem.ts'
import type { FilesTexts } from '../texts.ts'
import { entryActions } from './entry-actions.ts'
import { EntryMenu } from './entry-menu.tsx'
import { selectedCount } from './selection.ts'
import { singleSelection } from './single-selection.ts'

const LABELLED: ReadonlySet<DrawingName> = new Set(['download', 'share', 'move', 'trash'])

function classOf(drawing: DrawingName, isDeletion: boolean): string {
  const spare = isDeletion ? '' : ' selection-spare'
  return `icon-button${spare}${LABELLED.has(drawing) ? ' selection-labelled' : ''}`
}

/** Always present, so that the layout does not shift. */
export function SelectionBar(look: ListFieldsProps) {
  const files = useFiles()
  const { texts, words, shown, manager } = files
  const total = manager.listing.total()
  const count = selectedCount(shown.selection, total ?? 0)
  const only = singleSelection(shown.selection, manager)
  const actions = entryActions(only, count, files)
  const [menu, setMenu] = useState<MenuAnchor | null>(null)
  const closeMenu = useCallback(() => setMenu(null), [])

  if (count === 0) {
    const results = manager.listing.isAtLeast() ? texts.moreResults : texts.results
    const forms = manager.listing.isFound() ? results : texts.entries
    const counted = total === null ? '' : words.count(total, forms)
    return (
      <div className="selection-bar">
        <p className="small quiet" role="status">
          {problemText(shown.problem, texts) ?? counted}
        </p>
        <ListFields {...look} />
      </div>
    )
  }
  return (
    <div className="selection-bar" data-selected>
      <button
        aria-label={texts.actions.selectNone}
        className="icon-button"
        onClick={() => manager.selectNone()}
        type="button"
      >
        <Drawing of="cross" />
      </button>
      <p className="small" role="status">
        <span>{words.count(count, texts.selected)}</span>
      </p>
      <div className="selection-actions">
        {actions.map(({ label, drawing, isDeletion = false, act }) =>
          drawing === 'copy' ? (
            <Button
              className="tool"
              key={drawing}
              leftSection={<Drawing of={drawing} />}
              onClick={act}
              variant="default"
            >
              {label}
            </Button>
          ) : (
            <button
              aria-label={label}
              className={classOf(drawing, isDeletion)}
              data-deletion={isDeletion || undefined}
              key={drawing}
              onClick={act}
              title={label}
              type="button"
            >
              <Drawing of={drawing} />
              {LABELLED.has(drawing) ? <span className="selection-label">{label}</span> : null}
            </button>
          ),
        )}
        <button
          aria-haspopup="menu"
          aria-label={texts.actions.moreActions}
          className="icon-button selection-more"
          onClick={({ currentTarget }) => setMenu(currentTarget.getBoundingClientRect())}
          type="button"
        >
          <Drawing of="dots" />
        </button>
      </div>
      {menu === null ? null : <EntryMenu at={menu} close={closeMenu} keep={null} leave={closeMenu} />}
      <ListFields {...look} />
    </div>
  )
}

function problemText(problem: ListProblem | null, { problems }: FilesTexts): string | null {
  if (problem === 'signed out') return problems.signedOut
  return problem === 'network' ? networkText(problems) : null
}
