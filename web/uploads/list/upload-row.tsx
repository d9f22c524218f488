import { Progress } from '@mantine/core'
import { memo } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { FileName } from '../../shared/file-name.tsx'
import { fill } from '../../shared/words.ts'
import type { UploadEngine } from '../engine.ts'
import type { UploadItem, UploadPhase } from '../upload-item.ts'
import { LinkActions } from './link-actions.tsx'
import { RowActions } from './row-actions.tsx'
import type { View } from './view.ts'

interface UploadRowProps {
  readonly engine: UploadEngine
  readonly item: UploadItem
  readonly view: View
  /** The only row: its link is prominent. */
  readonly isOnly: boolean
  readonly note: string | null
}

export const UploadLine = memo(function UploadRow(props: UploadRowProps) {
  const { engine, item, view, isOnly, note } = props
  const { state, link, name } = item
  const { texts } = view
  const isGone = ['failed', 'cancelled', 'deleted'].includes(state.kind)

  return (
    <li className="upload" data-state={state.kind}>
      <div className="upload-name">
        <Drawing of={drawingOf(state)} />
        <FileName name={name} />
      </div>
      <div className="upload-progress">
        {isGone || state.kind === 'done' ? null : (
          // The server is concatenating partial uploads.
          <Progress
            animated={state.kind === 'processing'}
            aria-label={fill(texts.progressOf, { name })}
            size="sm"
            value={share(item)}
          />
        )}
        <p className="upload-state small">{view.state(item)}</p>
        {state.kind === 'interrupted' && state.other !== null ? (
          <p className="failure small">{view.otherFile(item, state.other)}</p>
        ) : null}
      </div>
      {link === null || isGone ? null : (
        <LinkActions isMain={isOnly} link={link} name={name} note={note} texts={texts} />
      )}
      <div className="actions upload-actions">
        <RowActions engine={engine} item={item} texts={texts} />
      </div>
    </li>
  )
})

function drawingOf({ kind }: UploadPhase): 'check' | 'alert' | 'file' {
  if (kind === 'done') return 'check'
  return kind === 'failed' || kind === 'waiting' ? 'alert' : 'file'
}

function share({ sent, size }: UploadItem): number {
  return size === 0 ? 0 : (sent / size) * 100
}
