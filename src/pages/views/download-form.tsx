import type { ReactNode } from 'react'
import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import type { DownloadForm } from '../views.ts'
import type { PageContext } from './context.ts'

interface Props {
  readonly form: DownloadForm
  readonly className: string
  readonly children: ReactNode
}

/** A button instead of a link, which mail scanners would follow. */
export function DownloadByForm({ form, className, children }: Props) {
  return (
    <form action={form.action} className="download-form" method="post">
      <input name="once" type="hidden" value={form.once} />
      <button className={className} type="submit">
        <Drawing of="download" />
        {children}
      </button>
    </form>
  )
}

/** As text, not a link: fetching it takes a slot. */
export function AddressForPrograms({
  form,
  context,
}: {
  readonly form: DownloadForm
  readonly context: PageContext
}) {
  return (
    <p className="small quiet address-for-programs">
      {context.texts.madeLink.forPrograms} <code>{form.address}</code>
    </p>
  )
}
