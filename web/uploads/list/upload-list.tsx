import { Button, Progress } from '@mantine/core'
import { useState } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import type { UploadEngine } from '../engine.ts'
import { isActive, isOver, type UploadItem, type Uploads } from '../upload-item.ts'
import { CopyButton } from './link-actions.tsx'
import { shortList } from './short-list.ts'
import { UploadLine } from './upload-row.tsx'
import type { View } from './view.ts'

interface UploadListViewProps {
  readonly engine: UploadEngine
  readonly uploads: Uploads
  readonly view: View
  readonly noteOf: (item: UploadItem) => string | null
}

export function UploadListView({ engine, uploads, view, noteOf }: UploadListViewProps) {
  const { items } = uploads
  const { texts, words } = view
  const links = items.flatMap(({ link, state }) =>
    link === null || ['cancelled', 'deleted', 'failed'].includes(state.kind) ? [] : [link],
  )
  const isOne = items.length === 1
  const [isAll, setIsAll] = useState(false)
  const shown = isAll ? items : shortList(items)

  return (
    <section aria-label={texts.list} className="uploads">
      <div className="uploads-head">
        <h1>{view.headline(uploads)}</h1>
        <div className="actions">
          {links.length > 1 ? (
            <CopyButton
              copied={texts.copied}
              label={words.count(links.length, texts.copyAll)}
              text={links.join('\n')}
              variant="light"
            />
          ) : null}
          <PauseAll engine={engine} uploads={uploads} view={view} />
          {uploads.total.isActive || items.filter(isOver).length < 2 ? null : (
            <Button
              className="quiet-button"
              leftSection={<Drawing of="cross" />}
              onClick={() => engine.act((list) => list.clear())}
              variant="subtle"
            >
              {texts.clear}
            </Button>
          )}
        </div>
        {!isOne && uploads.total.isActive ? <TotalProgress uploads={uploads} view={view} /> : null}
      </div>
      <ul className="upload-rows">
        {shown.map((item) => (
          <UploadLine
            engine={engine}
            isOnly={isOne}
            item={item}
            key={item.id}
            note={noteOf(item)}
            view={view}
          />
        ))}
      </ul>
      {shown.length === items.length && !isAll ? null : (
        <Button className="uploads-all" onClick={() => setIsAll(!isAll)} variant="default">
          {isAll ? texts.showFewer : words.count(items.length, texts.showAll)}
        </Button>
      )}
    </section>
  )
}

function TotalProgress({ uploads, view }: { uploads: Uploads; view: View }) {
  const { total } = uploads
  return (
    <div className="uploads-total">
      <Progress
        aria-label={view.texts.total}
        size="md"
        value={total.size === 0 ? 0 : (total.sent / total.size) * 100}
      />
      <p className="quiet small">{view.total(uploads)}</p>
    </div>
  )
}

function PauseAll({ engine, uploads: { items }, view: { texts } }: Omit<UploadListViewProps, 'noteOf'>) {
  const active = items.filter(isActive)
  const paused = items.filter(({ state }) => state.kind === 'paused')
  if (active.length + paused.length < 2) return null
  return active.length > 0 ? (
    <Button
      leftSection={<Drawing of="pause" />}
      onClick={() => engine.act((list) => list.pauseAll())}
      variant="default"
    >
      {texts.pauseAll}
    </Button>
  ) : (
    <Button
      leftSection={<Drawing of="play" />}
      onClick={() => engine.act((list) => list.resumeAll())}
      variant="default"
    >
      {texts.resumeAll}
    </Button>
  )
}
