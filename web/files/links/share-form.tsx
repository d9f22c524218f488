import { type FormEvent, useId, useState } from 'react'
import type { LinkDetail } from '../../../src/contract/links.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { CheckField } from '../../shared/check-field.tsx'
import { DialogActions } from '../../shared/dialogs/dialog-actions.tsx'
import { useListAttempt } from '../dialogs/use-attempt.ts'
import { type Entry, foldersOf } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { newLinkPassword } from './link-password.ts'
import { makeLink } from './links-client.ts'
import { MoreTerms, moreTermsOf } from './more-terms.tsx'

/** In days; what is chosen at first stands in the middle. */
const PRESETS = [1, 7, 30] as const
const PRESET = 7

export interface Made {
  readonly link: LinkDetail
  readonly password: string | null
}

interface ShareFormProps {
  readonly entries: readonly Entry[]
  readonly close: () => void
  readonly show: (made: Made) => void
}

/** The terms of a new link: those that most people want, and the others behind a word. */
export function ShareForm({ entries, close, show }: ShareFormProps) {
  const { texts, words } = useFiles()
  const { share, dialogs } = texts
  const [days, setDays] = useState<number | null>(PRESET)
  const [isOnce, setIsOnce] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const [forName, setForName] = useState(true)
  const isFolder = entries.length === 1 && foldersOf(entries).length === 1
  const [isLocked, setIsLocked] = useState(false)
  const { problem, isBusy, attempt } = useListAttempt({
    DUPLICATE_NAME: share.addressTaken,
    INVALID_NAME: share.addressRefused,
  })
  const field = useId()

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const password = isLocked ? newLinkPassword() : null
    const { limits, ...more } = moreTermsOf(event.currentTarget)
    const asks = isAsking ? { forName, ...limits } : null
    void attempt(
      async () =>
        show({ link: await makeLink(entries, { days, isOnce, password, asks, ...more }), password }),
      () => {},
    )
  }

  return (
    <form className="dialog-form" onSubmit={submit}>
      <p className="small quiet">{isAsking ? share.askingWhy : share.why}</p>
      {isFolder ? (
        <CheckField isChecked={isAsking} set={setIsAsking} text={share.asking} why={share.askingShort} />
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
        <CheckField isChecked={forName} set={setForName} text={share.forName} why={share.forNameWhy} />
      ) : (
        <CheckField isChecked={isOnce} set={setIsOnce} text={share.once} why={share.onceWhy} />
      )}
      <CheckField isChecked={isLocked} set={setIsLocked} text={share.password} why={share.passwordWhy} />
      <MoreTerms isAsking={isAsking} />
      <ProblemMessage isSmall text={problem} />
      <DialogActions cancel={close} cancelText={dialogs.cancel} isDisabled={isBusy} verb={share.make} />
    </form>
  )
}
