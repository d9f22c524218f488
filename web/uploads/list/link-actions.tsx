import { Button } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { toClipboard } from '../../shared/clipboard.ts'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import type { StartAppTexts } from '../texts.ts'
import type { Modules } from './qr-code.ts'

interface LinkActionsProps {
  readonly link: string
  /** Of the file. */
  readonly name: string
  readonly texts: StartAppTexts
  readonly isMain: boolean
  /** What whoever gives the link away has to know; null where it opens for everybody. */
  readonly note: string | null
}

/** The link of a file, and the ways to give it away. */
export function LinkActions({ link, name, texts, isMain, note }: LinkActionsProps) {
  const [code, setCode] = useState<Modules | null>(null)

  /** What draws it may be out of reach just now; the next click tries again. */
  function toggleCode(): void {
    if (code !== null) setCode(null)
    else import('./qr-code.ts').then(({ modulesOf }) => setCode(modulesOf(link))).catch(() => {})
  }

  return (
    <div className="link">
      <a className="link-address" href={link}>
        <bdi>{link.replace(/^https?:\/\//, '')}</bdi>
      </a>
      {note === null ? null : (
        <p className="private-note small">
          <Drawing of="lock" />
          {note}
        </p>
      )}
      <div className="actions">
        <CopyButton
          copied={texts.copied}
          label={texts.copy}
          of={name}
          text={link}
          variant={isMain ? 'filled' : 'light'}
        />
        <Button
          aria-expanded={code !== null}
          aria-label={`${texts.qrCode}: ${name}`}
          leftSection={<Drawing of="qrcode" />}
          onClick={toggleCode}
          variant="default"
        >
          {texts.qrCode}
        </Button>
        {navigator.share === undefined ? null : (
          <Button
            aria-label={`${texts.share}: ${name}`}
            leftSection={<Drawing of="share" />}
            // Whoever closes the sheet has changed their mind.
            onClick={() => void navigator.share({ title: name, url: link }).catch(() => {})}
            variant="default"
          >
            {texts.share}
          </Button>
        )}
      </div>
      {code === null ? null : (
        <svg
          aria-label={texts.qrCodeOf}
          className="qr"
          role="img"
          shapeRendering="crispEdges"
          viewBox={`0 0 ${code.size} ${code.size}`}
        >
          <path d={code.path} />
        </svg>
      )}
    </div>
  )
}

interface CopyButtonProps {
  readonly text: string
  readonly label: string
  /** What it says for a moment afterwards. */
  readonly copied: string
  readonly of?: string
  readonly variant: 'filled' | 'light'
}

const MOMENT = 2000

export function CopyButton({ text, label, copied, of, variant }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  async function copy(): Promise<void> {
    if (!(await toClipboard(text))) return
    setIsCopied(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(setIsCopied, MOMENT, false)
  }

  const said = isCopied ? copied : label
  return (
    <>
      <Button
        aria-label={of === undefined ? undefined : `${said}: ${of}`}
        className="copy"
        leftSection={<Drawing of={isCopied ? 'check' : 'copy'} />}
        onClick={() => void copy()}
        variant={variant}
      >
        {said}
      </Button>
      {/* A button that is called something else now is announced by few screen readers. */}
      <span className="off-screen" role="status">
        {isCopied ? copied : ''}
      </span>
    </>
  )
}
