import { Button, Progress } from '@mantine/core'
import { memo } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { escapeTo } from '../../shared/escape-to.ts'
import { FileName } from '../../shared/file-name.tsx'
import { fill } from '../../shared/words.ts'
import type { UploadEngine } from '../engine.ts'
import type { UploadItem, UploadPhase } from '../upload-item.ts'
import { LinkActions } from './link-actions.tsx'
import { isAsked, RowActions, stateId } from './row-actions.tsx'
import type { View } from './view.ts'

interface UploadRowProps {
  readonly engine: UploadEngine
  readonly item: UploadItem
  readonly view: View
  /** The only row: its link is prominent. */
  readonly isOnly: boolean
  readonly note: string | null
  readonly receiptOf: (link: string) => string | null
}

export const UploadLine = memo(function UploadRow(props: UploadRowProps) {
  const { engine, item, view, isOnly, note, receiptOf } = props
  const { state, link, name } = item
  const { texts } = view
  const receipt = link === null || state.kind !== 'done' ? null : receiptOf(link)
  const isGone = ['failed', 'cancelled', 'deleted'].includes(state.kind)

  return (
    <li
      className="upload"
      data-asked={isAsked(item) || undefined}
      data-state={state.kind}
      onKeyDown={
        isAsked(item) ? escapeTo(() => engine.act((list) => list.deletion(item.id, 'keep'))) : undefined
      }
    >
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
        <p className="upload-state small" id={stateId(item)}>
          {view.state(item)}
        </p>
        {state.kind === 'interrupted' && state.other !== null ? (
          <p className="failure small">{view.otherFile(item, state.other)}</p>
        ) : null}
      </div>
      {link === null || isGone || !view.showsLinks ? null : (
        <LinkActions isMain={isOnly} link={link} name={name} note={note} texts={texts} />
      )}
      <div className="actions upload-actions">
        {receipt === null ? null : (
          <Button
            aria-label={`${texts.earlier.manage}: ${name}`}
            className="quiet-button"
            component="a"
            href={`/r/${encodeURIComponent(receipt)}`}
            leftSection={<Drawing of="file" />}
            variant="subtle"
          >
            {texts.earlier.manage}
          </Button>
        )}
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
