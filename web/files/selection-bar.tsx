import { Drawing } from '../shared/drawing.tsx'
import { entryActions } from './entry-actions.ts'
import { useFiles } from './files-context.ts'
import { ListFields, type ListFieldsProps } from './list-fields.tsx'
import { selectedCount } from './selection.ts'
import { theOnly } from './the-only.ts'

/** How much is listed or selected, and what can be done with it. It is always there, so that nothing jumps. */
export function SelectionBar(look: ListFieldsProps) {
  const files = useFiles()
  const { texts, words, shown, manager } = files
  const total = manager.listing.total()
  const count = selectedCount(shown.selection, total ?? 0)
  const only = theOnly(shown.selection, manager)

  if (count === 0) {
    const forms = shown.query.search === '' ? texts.entries : texts.results
    const counted = total === null ? '' : words.count(total, forms)
    return (
      <div className="selection-bar">
        <p className="small quiet" role="status">
          {shown.problem === 'network' ? texts.problems.network : counted}
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
        onClick={manager.selectNone}
        type="button"
      >
        <Drawing of="cross" />
      </button>
      <p className="small" role="status">
        {words.count(count, texts.selected)}
      </p>
      <div className="selection-actions">
        {entryActions(only, count, files).map(({ label, drawing, isDeletion = false, act }) => (
          <button
            aria-label={label}
            className="icon-button"
            data-deletion={isDeletion || undefined}
            key={drawing}
            onClick={act}
            title={label}
            type="button"
          >
            <Drawing of={drawing} />
          </button>
        ))}
      </div>
      <ListFields {...look} />
    </div>
  )
}
