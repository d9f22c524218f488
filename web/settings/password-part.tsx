import { Button } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Session } from '../../src/contract/session.ts'
import { LONGEST_PASSWORD } from '../../src/domain/password-grade.ts'
import { PageSection } from '../shared/app/part.tsx'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { useAttempt } from '../shared/app/use-attempt.ts'
import { PasswordField } from '../shared/password-field.tsx'
import { changePassword } from './client.ts'
import { PresentPassword, usePresentPassword } from './present-password.tsx'
import { useSettings } from './settings-context.ts'
import { StrengthMeter } from './strength-meter.tsx'

interface PasswordPartProps {
  readonly session: Session
  readonly changed: () => Promise<void>
}

export function PasswordPart({ session, changed }: PasswordPartProps) {
  const { texts, say } = useSettings()
  const { password } = texts
  const { given, ...present } = usePresentPassword(session)
  const [next, setNext] = useState('')
  const { problem, passwordProblem, isBusy, attempt } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(
      () => changePassword(given, next),
      () => {
        present.setTyped('')
        setNext('')
        say(password.changed)
        return changed()
      },
    )
  }

  return (
    <PageSection title={password.title} why={session.has_password ? password.why : password.none}>
      <form className="dialog-form" onSubmit={submit}>
        {/* Tells password managers whose password it is. */}
        <input autoComplete="username" hidden readOnly value={session.username} />
        <PresentPassword {...present} problem={passwordProblem} />
        <div>
          <PasswordField
            autoComplete="new-password"
            label={password.next}
            maxLength={LONGEST_PASSWORD}
            onChange={({ currentTarget }) => setNext(currentTarget.value)}
            required
            show={texts.common.showPassword}
            value={next}
          />
          <StrengthMeter known={[session.username]} password={next} />
        </div>
        <ProblemMessage text={problem} />
        <Button className="add" disabled={isBusy} type="submit">
          {password.change}
        </Button>
      </form>
    </PageSection>
  )
}
