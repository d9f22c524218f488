import type { UploadEngine } from '../uploads/engine.ts'
import type { View } from '../uploads/list/view.ts'
import { isActive, isOver, type Uploads } from '../uploads/upload-item.ts'
import { Bar, UploadRows } from './rows/upload-rows.tsx'

interface LinkUploadsProps {
  readonly uploads: Uploads
  readonly engine: UploadEngine
  readonly view: View
  /** Address of the receipt of what was sent. */
  readonly receiptOf: (link: string) => string | null
}

/** What this page sends by an upload link. */
export function LinkUploads({ uploads, engine, view, receiptOf }: LinkUploadsProps) {
  const { items, total } = uploads
  const { texts } = view
  const active = items.filter(isActive).length
  const paused = items.filter(({ state }) => state.kind === 'paused').length
  return (
    <section aria-label={texts.list} className="transfer">
      <header className="panel-head">
        <h2>{view.headline(uploads)}</h2>
        <p className="panel-told small quiet">{active > 0 ? view.total(uploads) : ''}</p>
        <div className="panel-actions">
          {active + paused < 2 ? null : (
            <button
              className="row-button"
              onClick={() => engine.act((list) => (active > 0 ? list.pauseAll() : list.resumeAll()))}
              type="button"
            >
              {active > 0 ? texts.pauseAll : texts.resumeAll}
            </button>
          )}
          {total.isActive || items.filter(isOver).length < 2 ? null : (
            <button className="row-button" onClick={() => engine.act((list) => list.clear())} type="button">
              {texts.clear}
            </button>
          )}
        </div>
        <div className="panel-bar">
          {total.isActive && items.length > 1 ? (
            <Bar label={texts.total} share={total.size === 0 ? 0 : total.sent / total.size} />
          ) : null}
        </div>
      </header>
      <UploadRows
        engine={engine}
        hasLinks={false}
        items={items}
        kind="upload link"
        receiptOf={receiptOf}
        view={view}
      />
    </section>
  )
}
