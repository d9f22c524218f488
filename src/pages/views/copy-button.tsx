import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import type { PageContext } from './context.ts'

/**
 * Copies a link to the clipboard, with `enableCopy` of `web/shared/copy-button.ts`. Hidden without scripts.
 */
export function CopyLinkButton({ url, context }: { url: string; context: PageContext }) {
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
        <span aria-live="polite">{copyLink}</span>
      </button>
      <p className="small copy-failed" role="alert" />
    </>
  )
}
