import { Button } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { toClipboard } from '../../shared/clipboard.ts'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import type { StartAppTexts } from '../texts.ts'
import type { Modules } from './qr-code.ts'

interface LinkActionsProps {
  readonly link: string
  readonly name: string
  readonly texts: StartAppTexts
  readonly isMain: boolean
  /** Shown to the sender; null for a link that everybody can open. */
  readonly note: string | null
}

export function LinkActions({ link, name, texts, isMain, note }: LinkActionsProps) {
  const [code, setCode] = useState<Modules | null>(null)

  /** The drawing code may fail to load; the next click retries. */
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
            // Closing the share sheet rejects.
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
      {/* Few screen readers announce that a button was renamed. */}
      <span className="off-screen" role="status">
        {isCopied ? copied : ''}
      </span>
    </>
  )
}
