import { Drawing } from '../../../../web/shared/drawing.tsx'
import type { PageContext } from './context.ts'

/** Puts a link into the clipboard, by `enableCopy` of `web/shared/copy-button.ts`. Hidden where there are no scripts. */
export function CopyButton({ url, context }: { url: string; context: PageContext }) {
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
