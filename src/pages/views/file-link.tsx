import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import type { FilePageView } from '../views.ts'
import { BarrierNote } from './barrier-note.tsx'
import type { PageContext } from './context.ts'
import { CopyLinkButton } from './copy-button.tsx'
import { QrCode } from './qr-code.tsx'

interface Props {
  readonly view: FilePageView
  readonly context: PageContext
}

/** Shown in full, so that it can be selected and copied by hand. */
export function FileLink({ view, context }: Props) {
  const { texts } = context
  const isPrivate = view.barrier?.kind === 'private'
  return (
    <>
      {view.barrier === null ? null : <BarrierNote barrier={view.barrier} context={context} />}
      <div className="link">
        <p className="link-text">{view.url}</p>
        <CopyLinkButton context={context} url={view.url} />
      </div>
      {isPrivate ? null : (
        <details className="qr">
          <summary>
            <Drawing of="qrcode" />
            {texts.file.qrCode}
          </summary>
          <QrCode label={`${texts.file.link}: ${view.url}`} text={view.url} />
        </details>
      )}
    </>
  )
}
