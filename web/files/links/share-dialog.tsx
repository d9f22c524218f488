import { Button } from '@mantine/core'
import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import type { LinkDetail } from '../../../src/contract/links.ts'
import { fill } from '../../shared/words.ts'
import { CopyButton, LinkActions } from '../../uploads/list/link-actions.tsx'
import { FilesDialog } from '../dialogs/dialog.tsx'
import { useListAttempt } from '../dialogs/use-attempt.ts'
import { type Entry, foldersOf } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { useTimes } from '../use-times.ts'
import { newLinkPassword } from './link-password.ts'
import { makeLink } from './links-client.ts'

/** In days; what is chosen at first stands in the middle. */
const PRESETS = [1, 7, 30] as const
const PRESET = 7

interface Made {
  readonly link: LinkDetail
  readonly password: string | null
}

/** Makes a link with terms for what is selected, and shows it: the password for the only time. */
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

interface ShareFormProps {
  readonly entries: readonly Entry[]
  readonly close: () => void
  readonly show: (made: Made) => void
}

function ShareForm({ entries, close, show }: ShareFormProps) {
  const { texts, words } = useFiles()
  const { share, dialogs } = texts
  const [days, setDays] = useState<number | null>(PRESET)
  const [isOnce, setIsOnce] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const [forName, setForName] = useState(true)
  const isFolder = entries.length === 1 && foldersOf(entries).length === 1
  const [isLocked, setIsLocked] = useState(false)
  const { problem, isBusy, attempt } = useListAttempt()
  const field = useId()

  function submit(event: FormEvent): void {
    event.preventDefault()
    const password = isLocked ? newLinkPassword() : null
    const asks = isAsking ? { forName } : null
    void attempt(
      async () => show({ link: await makeLink(entries, { days, isOnce, password, asks }), password }),
      () => {},
    )
  }

  return (
    <form className="dialog-form" onSubmit={submit}>
      <p className="small quiet">{isAsking ? share.askingWhy : share.why}</p>
      {isFolder ? (
        <Check isChecked={isAsking} set={setIsAsking} text={share.asking} why={share.askingShort} />
      ) : null}
      <div className="field">
        <label htmlFor={field}>{share.ends}</label>
        <select
          data-autofocus
          id={field}
          onChange={({ currentTarget: { value } }) => setDays(value === '' ? null : Number(value))}
          value={days ?? ''}
        >
          {PRESETS.map((preset) => (
            <option key={preset} value={preset}>
              {words.count(preset, share.days)}
            </option>
          ))}
          <option value="">{share.endless}</option>
        </select>
      </div>
      {isAsking ? (
        <Check isChecked={forName} set={setForName} text={share.forName} why={share.forNameWhy} />
      ) : (
        <Check isChecked={isOnce} set={setIsOnce} text={share.once} why={share.onceWhy} />
      )}
      <Check isChecked={isLocked} set={setIsLocked} text={share.password} why={share.passwordWhy} />
      {problem === null ? null : (
        <p className="failure small" role="alert">
          {problem}
        </p>
      )}
      <div className="dialog-actions">
        <Button onClick={close} type="button" variant="default">
          {dialogs.cancel}
        </Button>
        <Button disabled={isBusy} type="submit">
          {share.make}
        </Button>
      </div>
    </form>
  )
}

interface CheckProps {
  readonly isChecked: boolean
  readonly set: (isChecked: boolean) => void
  readonly text: string
  readonly why: string
}

function Check({ isChecked, set, text, why }: CheckProps) {
  return (
    <label className="check">
      <input
        checked={isChecked}
        onChange={({ currentTarget }) => set(currentTarget.checked)}
        type="checkbox"
      />
      <span>
        {text}
        <span className="small quiet">{why}</span>
      </span>
    </label>
  )
}

function MadeLink({ made: { link, password }, close }: { made: Made; close: () => void }) {
  const { data, texts } = useFiles()
  const { share } = texts
  const times = useTimes()
  const place = useRef<HTMLDivElement>(null)
  // Copying is what comes next.
  useEffect(() => place.current?.querySelector<HTMLElement>('button.copy')?.focus(), [])
  const end =
    link.ends_at === null ? share.madeEndless : fill(share.madeUntil, { day: times.long(link.ends_at) })

  return (
    <div className="share-made" ref={place}>
      <p className="small" role="status">
        {end} {link.max_downloads === null ? '' : share.madeOnce}
      </p>
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
