import { FileName } from '../../shared/file-name.tsx'
import type { Entry } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { isSelected } from '../selection/selection.ts'
import { amountOf } from './amount.ts'
import { EntryPicture } from './entry-picture.tsx'
import type { LineProps } from './line-props.ts'
import { MoreButton } from './more-button.tsx'
import { useEntryEvents } from './use-entry-events.ts'

export function TileLine({ line, columns, total, place, openMenu }: LineProps) {
  const { manager } = useFiles()
  const first = line * columns
  const rows = Array.from(
    { length: Math.max(0, Math.min(columns, total - first)) },
    (_, index) => first + index,
  )
  return (
    <div
      aria-rowindex={line + 1}
      className="tile-line"
      role="row"
      style={{ ...place, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
    >
      {rows.map((row) => {
        const entry = manager.listing.at(row)
        return entry === null ? (
          <div className="tile tile-coming" key={row} role="gridcell" />
        ) : (
          <Tile entry={entry} key={row} openMenu={openMenu} row={row} />
        )
      })}
    </div>
  )
}

function Tile({ entry, row, openMenu }: { entry: Entry; row: number; openMenu: LineProps['openMenu'] }) {
  const files = useFiles()
  const { texts, shown } = files
  const { selection, busy } = shown
  const isFolder = entry.kind === 'folder'
  const events = useEntryEvents(row, entry)
  return (
    <div
      {...events}
      aria-busy={busy.has(entry.key) || undefined}
      aria-selected={isSelected(selection, entry.key)}
      className="tile"
      data-drop={isFolder ? entry.id : undefined}
      data-row={row}
      draggable
      role="gridcell"
      tabIndex={selection.focus === row ? 0 : -1}
    >
      <EntryPicture entry={entry} />
      <FileName name={entry.name} />
      <span className="small quiet">
        {amountOf(entry, files)}
        {!isFolder && entry.isDamaged ? ` · ${texts.damaged}` : null}
      </span>
      <MoreButton name={entry.name} openMenu={openMenu} row={row} />
    </div>
  )
}
