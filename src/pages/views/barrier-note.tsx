import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { Filled } from '../../../web/shared/filled.tsx'
import type { BarrierNotice } from '../views.ts'
import type { PageContext } from './context.ts'

export function BarrierNote({ barrier, context }: { barrier: BarrierNotice; context: PageContext }) {
  const texts = context.texts.common.barriers[barrier.kind]
  return (
    <div className="barrier" role="note">
      <Drawing of="lock" />
      <div>
        <strong>{texts.title}</strong>
        <p>
          <Filled text={texts.why} values={{ folder: <bdi>{barrier.folder}</bdi> }} />
        </p>
        <a href={barrier.manageUrl}>{texts.change}</a>
      </div>
    </div>
  )
}
