import { Button } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Told } from '../../shared/told.tsx'
import { fill } from '../../shared/words.ts'
import { CopyButton, LinkActions } from '../../uploads/list/link-actions.tsx'
import { FilesDialog } from '../dialogs/dialog.tsx'
import type { Entry } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { useTimes } from '../use-times.ts'
import { type Made, ShareForm } from './share-form.tsx'

/** The password is shown only now. */
export function ShareDialog({ entries, close }: { entries: readonly Entry[]; close: () => void }) {
  const { texts, words } = useFiles()
  const [made, setMade] = useState<Made | null>(null)
  const [first, ...others] = entries
  const title =
    first === undefined || others.length > 0
      ? words.count(entries.length, texts.share.titleOfSeveral)
      : fill(texts.share.title, { name: first.name })
  return (
    <FilesDialog close={close} isHeld={made?.password != null} title={title}>
      {made === null ? (
        <ShareForm close={close} entries={entries} show={setMade} />
      ) : (
        <MadeLink close={close} made={made} />
      )}
    </FilesDialog>
  )
}

function MadeLink({ made: { link, password }, close }: { made: Made; close: () => void }) {
  const { data, texts, words } = useFiles()
  const { share } = texts
  const times = useTimes()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => place.current?.querySelector<HTMLElement>('button.copy')?.focus(), [])
  const end =
    link.ends_at === null ? share.madeEndless : fill(share.madeUntil, { day: times.long(link.ends_at) })

  return (
    <div className="share-made" ref={place}>
      <Told className="small">
        {end} {link.max_downloads === null ? '' : words.count(link.max_downloads, share.madeFor)}
      </Told>
      <LinkActions isMain link={link.url} name={link.title} note={null} texts={data.uploads} />
      {password === null ? null : (
        <>
          <p className="small">{share.passwordShown}</p>
          <div className="share-password">
            <code>{password}</code>
            <CopyButton
              copied={data.uploads.copied}
              label={share.copyPassword}
              text={password}
              variant="light"
            />
          </div>
        </>
      )}
      <div className="dialog-actions">
        <Button onClick={close} variant="default">
          {share.done}
        </Button>
      </div>
    </div>
  )
}
