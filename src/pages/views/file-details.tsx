import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { createWords } from '../../../web/shared/words.ts'
import type { FilePageView } from '../views.ts'
import type { PageContext } from './context.ts'

interface Props {
  readonly view: FilePageView
  readonly context: PageContext
}

/** For programs, which parse English sizes. */
const ENGLISH = createWords('en-GB', 'UTC')

/** Programs parse this: in English and in a fixed order. */
export function FileDetails({ view, context }: Props) {
  const rows: readonly (readonly [label: string, value: string])[] = [
    ...(view.uuid === null ? [] : [['UUID', view.uuid] as const]),
    ['Type', view.type],
    ['Uploaded', view.uploadedAt],
    ['Size', ENGLISH.size(view.size)],
    ['SHA-256', view.sha256],
    ['Bytes', String(view.size)],
    ['Views', String(view.views)],
    ['Downloads', String(view.downloads)],
    ['Verified', view.verifiedAt ?? 'Not since it was stored'],
  ]
  return (
    <details className="details">
      <summary>{context.texts.file.details}</summary>
      <div className="details-rows" id="detailsContent" lang="en">
        {rows.map(([label, value]) => (
          <div key={label}>
            <span>{label}</span>
            <span>{value}</span>
          </div>
        ))}
      </div>
      <Verify context={context} />
    </details>
  )
}

/** Hidden without scripts, which do the verification. */
function Verify({ context }: { context: PageContext }) {
  const { texts } = context
  return (
    <div className="verify">
      <p className="quiet">{texts.file.verifyWhy}</p>
      <label className="button button-quiet">
        <Drawing of="verify" />
        {texts.file.verify}
        <input id="verify-file" type="file" />
      </label>
      <progress aria-label={texts.file.verify} hidden id="verify-progress" max={1} />
      <p id="verify-result" role="status" />
    </div>
  )
}
