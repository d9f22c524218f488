import { Progress } from '@mantine/core'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import type { UploadEngine } from '../../uploads/engine.ts'
import { Announcements } from '../../uploads/list/announcements.tsx'
import { View } from '../../uploads/list/view.ts'
import { isActive } from '../../uploads/upload-item.ts'
import { useLeaveWarning } from '../../uploads/use-leave-warning.ts'
import { useFiles } from '../files-context.ts'

export function UploadsButton({ engine }: { engine: UploadEngine }) {
  const { data, texts, words, commands } = useFiles()
  const uploads = useSyncExternalStore(engine.subscribe, engine.snapshot)
  const { items, total } = uploads
  const view = useMemo(() => new View({ locale: data.locale, texts: data.uploads }, words), [data, words])
  useEffect(() => engine.open(), [engine])
  useLeaveWarning(total.isActive)
  const active = items.filter(isActive).length
  const failed = items.find(({ state }) => state.kind === 'failed')
  const waiting = active > 0 ? items.find(({ state }) => state.kind === 'waiting') : undefined
  const told = failed ?? waiting

  return (
    <>
      <button
        className="uploads-button"
        data-active={active > 0}
        data-failed={failed !== undefined || undefined}
        onClick={() => commands.show({ kind: 'uploads' })}
        type="button"
      >
        <Drawing of="upload" />
        <span>{texts.uploads.title}</span>
        {items.length === 0 ? null : <span className="small quiet">{view.headline(uploads)}</span>}
        {told === undefined ? null : (
          <span className={told === failed ? 'small failure uploads-told' : 'small uploads-told'}>
            <bdi>{told.name}</bdi>: {view.state(told)}
          </span>
        )}
        {active === 0 ? null : (
          <Progress
            aria-label={data.uploads.total}
            className="uploads-bar"
            size="sm"
            value={total.size === 0 ? 0 : (total.sent / total.size) * 100}
          />
        )}
      </button>
      <Announcements items={items} view={view} />
    </>
  )
}
