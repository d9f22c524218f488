import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import type { PageContext } from './context.ts'

/** Works by `enableCopy` of `web/shared/copy-button.ts`; hidden without scripts. */
interface CopyLinkButtonProps {
  readonly url: string
  readonly context: PageContext
  readonly label?: string
}

export function CopyLinkButton({ url, context, label }: CopyLinkButtonProps) {
  const { copyLink, copied, copyFailed } = context.texts.common
  return (
    <>
      <button
        className="button button-quiet copy"
        data-copied={copied}
        data-copy={url}
        data-failed={copyFailed}
        type="button"
      >
        <Drawing of="copy" />
        <span aria-live="polite">{label ?? copyLink}</span>
      </button>
      <p className="small copy-failed" role="alert" />
    </>
  )
}
