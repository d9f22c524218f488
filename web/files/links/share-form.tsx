import { type FormEvent, useState } from 'react'
import type { LinkDetail } from '../../../src/contract/links.ts'
import { LONGEST_SHARED_PASSWORD } from '../../../src/domain/password-grade.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { CheckField } from '../../shared/check-field.tsx'
import { DialogActions } from '../../shared/dialogs/dialog-actions.tsx'
import { type End, momentOf } from '../../shared/end.ts'
import { EndField } from '../../shared/end-field.tsx'
import { PasswordField } from '../../shared/password-field.tsx'
import { useListAttempt } from '../dialogs/use-attempt.ts'
import { type Entry, foldersOf } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { newLinkPassword } from './link-password.ts'
import { makeLink } from './links-client.ts'
import { MoreTerms, moreTermsOf } from './more-terms.tsx'

/** Days; the middle one is preset. */
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

export function ShareForm({ entries, close, show }: ShareFormProps) {
  const { texts, words } = useFiles()
  const { share, dialogs } = texts
  const [end, setEnd] = useState<End | null>({ kind: 'days', days: PRESET })
  const [isOnce, setIsOnce] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const [forName, setForName] = useState(true)
  const isFolder = entries.length === 1 && foldersOf(entries).length === 1
  const [password, setPassword] = useState<string | null>(null)
  const { problem, isBusy, attempt } = useListAttempt({
    DUPLICATE_NAME: share.addressTaken,
    INVALID_NAME: share.addressRefused,
  })

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const { limits, maxDownloads, ...more } = moreTermsOf(event.currentTarget)
    const terms = {
      ...more,
      endsAt: end === null ? null : momentOf(end, Date.now()),
      password,
      asks: isAsking ? { forName, ...limits } : null,
      maxDownloads: isAsking ? null : isOnce ? 1 : maxDownloads,
    }
    void attempt(
      async () => show({ link: await makeLink(entries, terms), password }),
      () => {},
    )
  }

  return (
    <form className="dialog-form" onSubmit={submit}>
      <p className="small quiet">{isAsking ? share.askingWhy : share.why}</p>
      {isFolder ? (
        <CheckField isChecked={isAsking} set={setIsAsking} text={share.asking} why={share.askingShort} />
      ) : null}
      <EndField
        choices={PRESETS}
        choose={setEnd}
        chosen={end}
        hasFocus
        texts={{ ...share, label: share.ends, never: share.endless }}
        words={words}
      />
      {isAsking ? (
        <CheckField isChecked={forName} set={setForName} text={share.forName} why={share.forNameWhy} />
      ) : (
        <CheckField isChecked={isOnce} set={setIsOnce} text={share.once} why={share.onceWhy} />
      )}
      <CheckField
        isChecked={password !== null}
        set={(isLocked) => setPassword(isLocked ? newLinkPassword() : null)}
        text={share.password}
        why={share.passwordWhy}
      />
      {password === null ? null : (
        <PasswordField
          aria-label={share.linkPassword}
          autoComplete="off"
          isShown
          maxLength={LONGEST_SHARED_PASSWORD}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
          required
          show={dialogs.showPassword}
          value={password}
        />
      )}
      <MoreTerms isAsking={isAsking} isOnce={isOnce} link={null} />
      <ProblemMessage isSmall text={problem} />
      <DialogActions cancel={close} cancelText={dialogs.cancel} isDisabled={isBusy} verb={share.make} />
    </form>
  )
}
