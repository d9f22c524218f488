import { Drawing } from '../../shared/drawings/drawing.tsx'
import { FileName } from '../../shared/file-name.tsx'
import type { Entry } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { isSelected } from '../selection/selection.ts'
import { useTimes } from '../use-times.ts'
import { amountOf } from './amount.ts'
import { EntryPicture } from './entry-picture.tsx'
import type { LineProps } from './line-props.ts'
import { MoreButton } from './more-button.tsx'
import { useEntryEvents } from './use-entry-events.ts'

export function ListLine({ line, place, openMenu }: LineProps) {
  const { manager } = useFiles()
  const entry = manager.listing.at(line)
  if (entry === null) {
    return (
      <div aria-rowindex={line + 2} className="line line-coming" role="row" style={place}>
        <div role="gridcell" />
      </div>
    )
  }
  return <EntryLine entry={entry} openMenu={openMenu} place={place} row={line} />
}

interface EntryLineProps {
  readonly entry: Entry
  readonly row: number
  readonly place: LineProps['place']
  readonly openMenu: LineProps['openMenu']
}

function EntryLine({ entry, row, place, openMenu }: EntryLineProps) {
  const files = useFiles()
  const { texts, words, shown } = files
  const times = useTimes()
  const { selection, busy, query, tree } = shown
  const isFolder = entry.kind === 'folder'
  const events = useEntryEvents(row, entry)
  const folder = query.search === '' ? null : (tree?.find(entry.place)?.name ?? texts.top)

  return (
    <div
      {...events}
      aria-busy={busy.has(entry.key) || undefined}
      aria-rowindex={row + 2}
      aria-selected={isSelected(selection, entry.key)}
      className="line"
      data-drop={isFolder ? entry.id : undefined}
      data-row={row}
      draggable
      role="row"
      style={place}
      tabIndex={selection.focus === row ? 0 : -1}
    >
      <div className="cell-name" role="gridcell">
        <EntryPicture entry={entry} isSmall />
        <span className="cell-words">
          <FileName name={entry.name} />
          {folder === null ? null : <bdi className="small quiet place">{folder}</bdi>}
          <span className="small quiet cell-facts">{amountOf(entry, files)}</span>
        </span>
        {!isFolder && entry.isDamaged ? <Mark drawing="alert" label={texts.damaged} /> : null}
        {isFolder && !entry.isPublic ? <Mark drawing="hidden" label={texts.private} /> : null}
        {isFolder && entry.hasPassword ? <Mark drawing="lock" label={texts.locked} /> : null}
      </div>
      <div className="cell-size quiet small" role="gridcell">
        {amountOf(entry, files)}
      </div>
      <div className="cell-date quiet small" role="gridcell">
        <time dateTime={entry.createdAt}>{times.short(entry.createdAt)}</time>
      </div>
      <div className="cell-downloads quiet small" role="gridcell">
        {isFolder ? '' : words.number(entry.downloads)}
      </div>
      <div className="cell-more" role="gridcell">
        <MoreButton name={entry.name} openMenu={openMenu} row={row} />
      </div>
    </div>
  )
}

function Mark({ drawing, label }: { drawing: 'alert' | 'hidden' | 'lock'; label: string }) {
  return (
    <span className="mark" title={label}>
      <Drawing of={drawing} size={16} />
      <span className="off-screen">{label}</span>
    </span>
  )
}
