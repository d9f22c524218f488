import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useId, useState } from 'react'
import type { MailSettings } from '../../src/contract/account.ts'
import type { Session } from '../../src/contract/session.ts'
import { DOWNLOAD_MAILS } from '../../src/domain/event-kinds.ts'
import { Loaded } from '../shared/app/loaded.tsx'
import { PageSection } from '../shared/app/part.tsx'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { useAttempt } from '../shared/app/use-attempt.ts'
import { CheckField } from '../shared/check-field.tsx'
import { fill } from '../shared/words.ts'
import { changeMailWishes, fetchMail, type MailWishes, removeMailAddress, setMailAddress } from './client.ts'
import { OwnerDialog } from './owner-dialog.tsx'
import { PresentPassword, usePresentPassword } from './present-password.tsx'
import { useSettings } from './settings-context.ts'

interface MailPartProps {
  readonly session: Session
}

interface AddressProps extends MailPartProps {
  readonly mail: MailSettings
  readonly changed: () => Promise<void>
}

/** Where the owner gets mail. A server that sends none shows it to those who have an address from before. */
export function MailSection({ session }: MailPartProps) {
  const { mail: texts } = useSettings().texts
  const { answered, again } = useAnswer(fetchMail)
  return (
    <PageSection title={texts.title} why={texts.why}>
      <Loaded again={again} answered={answered} isShort>
        {(mail) => (
          <>
            <Present mail={mail} />
            {mail.is_on ? <AddressForm changed={again} mail={mail} session={session} /> : null}
            {mail.address === null ? null : <Wishes changed={again} mail={mail} />}
            {mail.address === null ? null : <Removal changed={again} mail={mail} session={session} />}
          </>
        )}
      </Loaded>
    </PageSection>
  )
}

function Present({ mail: { address, pending } }: Pick<AddressProps, 'mail'>) {
  const { mail: texts } = useSettings().texts
  return (
    <>
      <p>{address === null ? texts.none : fill(texts.present, { address })}</p>
      {pending === null ? null : <p className="quiet">{fill(texts.waits, { address: pending })}</p>}
    </>
  )
}

function AddressForm({ session, changed }: AddressProps) {
  const { texts, say } = useSettings()
  const { mail } = texts
  const [address, setAddress] = useState('')
  const { given, ...present } = usePresentPassword(session)
  const { problem, passwordProblem, isBusy, attempt } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(
      () => setMailAddress(given, address),
      () => {
        setAddress('')
        present.setTyped('')
        say(fill(mail.sent, { address }))
        return changed()
      },
    )
  }

  return (
    <form className="dialog-form" onSubmit={submit}>
      <TextInput
        autoComplete="email"
        label={mail.address}
        maxLength={254}
        onChange={({ currentTarget }) => setAddress(currentTarget.value)}
        required
        type="email"
        value={address}
        withAsterisk={false}
      />
      <PresentPassword {...present} problem={passwordProblem} />
      <ProblemMessage text={problem} />
      <Button className="add" disabled={isBusy} type="submit">
        {mail.send}
      </Button>
    </form>
  )
}

/** Which mails about files and links somebody wants. */
function Wishes({ mail: present, changed }: Pick<AddressProps, 'mail' | 'changed'>) {
  const { mail } = useSettings().texts
  const { problem, isBusy, attempt } = useAttempt()
  const [wished, setWished] = useState<MailWishes>({})
  // A click shows at once, not when the server has answered.
  const { warnings, downloads } = isBusy ? { ...present, ...wished } : present
  const field = useId()

  function change(wishes: MailWishes): void {
    setWished(wishes)
    void attempt(() => changeMailWishes(wishes), changed)
  }

  return (
    <>
      <CheckField
        isChecked={warnings}
        isDisabled={isBusy}
        set={(isWanted) => change({ warnings: isWanted })}
        text={mail.warnings}
        why={mail.warningsWhy}
      />
      {warnings ? (
        <div className="field">
          <label htmlFor={field}>{mail.downloads}</label>
          <select
            disabled={isBusy}
            id={field}
            onChange={({ currentTarget }) => {
              const chosen = DOWNLOAD_MAILS.find((each) => each === currentTarget.value)
              if (chosen !== undefined) change({ downloads: chosen })
            }}
            value={downloads}
          >
            {DOWNLOAD_MAILS.map((each) => (
              <option key={each} value={each}>
                {mail.downloadMails[each]}
              </option>
            ))}
          </select>
        </div>
      ) : null}
      <ProblemMessage text={problem} />
    </>
  )
}

function Removal({ session, changed }: AddressProps) {
  const { texts, say } = useSettings()
  const { mail } = texts
  const [isAsking, setIsAsking] = useState(false)
  const close = () => setIsAsking(false)
  return (
    <div className="buttons">
      <Button color="red" onClick={() => setIsAsking(true)} variant="light">
        {mail.remove}
      </Button>
      {isAsking ? (
        <OwnerDialog
          act={removeMailAddress}
          close={close}
          isDeletion
          session={session}
          then={() => {
            close()
            say(mail.removed)
            return changed()
          }}
          title={mail.remove}
          verb={mail.remove}
          why={mail.removeWhy}
        />
      ) : null}
    </div>
  )
}
