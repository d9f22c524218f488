import { memo, useId, useRef } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { escapeTo } from '../../shared/escape-to.ts'
import { FileName } from '../../shared/file-name.tsx'
import { fill } from '../../shared/words.ts'
import type { UploadEngine } from '../../uploads/engine.ts'
import type { View } from '../../uploads/list/view.ts'
import { isBroken, type UploadItem } from '../../uploads/upload-item.ts'
import { commandsOf, type RowCommand } from './row-commands.ts'
import { RowMenu } from './row-menu.tsx'
import { Thumbnail } from './thumbnail.tsx'

interface UploadRowsProps {
  readonly items: readonly UploadItem[]
  readonly engine: UploadEngine
  readonly view: View
  readonly kind: 'transfer' | 'upload link'
  /** Whether the files have addresses of their own. */
  readonly hasLinks: boolean
  /** Address of the receipt of a file's link; null for none. */
  readonly receiptOf: (link: string) => string | null
}

/** Rows that are compared together: of thousands, a progress changes a few. */
const TOGETHER = 50

/** What needs the user comes first, else in the order in which it was added. */
export function UploadRows({ items, ...rest }: UploadRowsProps) {
  const sorted = [...items.filter(isBroken), ...items.filter((item) => !isBroken(item))]
  const groups = Array.from({ length: Math.ceil(sorted.length / TOGETHER) }, (_, at) =>
    sorted.slice(at * TOGETHER, (at + 1) * TOGETHER),
  )
  return (
    <ul className="upload-rows" data-many={items.length > 200 || undefined}>
      {groups.map((group, at) => (
        <RowGroup items={group} key={at} {...rest} />
      ))}
    </ul>
  )
}

const RowGroup = memo(
  function RowGroup({ items, ...rest }: UploadRowsProps) {
    return items.map((item) => <UploadRow item={item} key={item.id} {...rest} />)
  },
  (before, now) =>
    before.items.length === now.items.length &&
    before.items.every((item, at) => item === now.items[at]) &&
    before.view === now.view &&
    before.hasLinks === now.hasLinks &&
    before.receiptOf === now.receiptOf,
)

interface UploadRowProps extends Omit<UploadRowsProps, 'items'> {
  readonly item: UploadItem
}

const UploadRow = memo(function UploadRow(props: UploadRowProps) {
  const { item, engine, view, kind, hasLinks, receiptOf } = props
  const { id, name, size, path, state, link } = item
  const { texts, words } = view
  const said = useId()
  const field = useRef<HTMLInputElement>(null)
  const isGone = ['failed', 'cancelled', 'deleted'].includes(state.kind)
  const own = hasLinks && !isGone ? link : null
  const receipt = link === null || state.kind !== 'done' ? null : receiptOf(link)
  const { shown, menu } = commandsOf(item, texts, { link: own, receipt }, kind === 'transfer')
  const isAsked = state.kind === 'done' && state.deletion === 'asked'
  const choose = () => field.current?.click()
  const folder = path?.includes('/') ? path.slice(0, path.lastIndexOf('/')) : null

  return (
    <li
      className="upload"
      data-asked={isAsked || undefined}
      data-state={state.kind}
      onKeyDown={isAsked ? escapeTo(() => engine.act((list) => list.deletion(id, 'keep'))) : undefined}
    >
      <Thumbnail item={item} />
      <p className="upload-name">
        {own === null ? (
          <FileName name={name} />
        ) : (
          <a className="upload-link" href={own} target="_blank" rel="noopener">
            <FileName name={name} />
          </a>
        )}
        {folder === null ? null : (
          <span className="upload-folder small quiet">
            <Drawing of="folder" size={14} />
            <bdi>{folder}</bdi>
          </span>
        )}
      </p>
      <p className="upload-state small" id={said}>
        {saysSize(item) ? null : <span className="upload-size">{words.size(size)} · </span>}
        {view.state(item)}
        {state.kind === 'interrupted' && state.other !== null ? (
          <span className="failure"> {view.otherFile(item, state.other)}</span>
        ) : null}
      </p>
      <div className="upload-actions">
        {shown.map((command) => (
          <ShownCommand
            choose={choose}
            command={command}
            describedBy={isAsked ? said : undefined}
            engine={engine}
            key={command.label}
            name={name}
          />
        ))}
        {menu.length === 0 ? null : (
          <RowMenu choose={choose} commands={menu} engine={engine} name={name} texts={texts} />
        )}
      </div>
      {state.kind === 'interrupted' ? (
        <input
          aria-hidden="true"
          hidden
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.item(0)
            // Permits choosing the same file again.
            currentTarget.value = ''
            if (file) engine.act((list) => list.giveFile(id, file))
          }}
          ref={field}
          tabIndex={-1}
          type="file"
        />
      ) : null}
      {isGone || state.kind === 'done' ? null : (
        <Bar label={fill(texts.progressOf, { name })} share={size === 0 ? 0 : item.sent / size} />
      )}
    </li>
  )
})

/** Others say of how much. */
function saysSize({ state: { kind } }: UploadItem): boolean {
  return ['sending', 'done', 'failed', 'deleted', 'cancelled'].includes(kind)
}

/** `share`: from 0 to 1. */
export function Bar({ label, share }: { label: string; share: number }) {
  const percent = share * 100
  return (
    <div
      aria-label={label}
      aria-valuemax={100}
      aria-valuemin={0}
      aria-valuenow={percent}
      className="bar"
      role="progressbar"
    >
      <div className="bar-filled" style={{ inlineSize: `${percent}%` }} />
    </div>
  )
}

interface ShownCommandProps {
  readonly command: RowCommand
  readonly name: string
  readonly describedBy: string | undefined
  readonly engine: UploadEngine
  readonly choose: () => void
}

function ShownCommand({ command, name, describedBy, engine, choose }: ShownCommandProps) {
  const { label } = command
  if (command.kind === 'copy') return null
  if (command.kind === 'link') {
    return (
      <a className="row-button" href={command.href} target={command.target}>
        {label}
      </a>
    )
  }
  return (
    <button
      aria-describedby={describedBy}
      aria-label={`${label}: ${name}`}
      className="row-button"
      data-deletion={(command.kind === 'act' && command.isDeletion) || undefined}
      onClick={() => {
        if (command.kind === 'act') engine.act(command.act)
        else choose()
      }}
      type="button"
    >
      {label}
    </button>
  )
}
