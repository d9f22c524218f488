import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { LONGEST } from '../../src/domain/password-grade.ts'
import { changePassword } from './client.ts'
import { Problem } from './confirm-dialog.tsx'
import { Part } from './part.tsx'
import { PresentPassword, usePresentPassword } from './present-password.tsx'
import { useSettings } from './settings-context.ts'
import type { Session } from './shapes.ts'
import { StrengthMeter } from './strength-meter.tsx'
import { useAttempt } from './use-attempt.ts'

interface PasswordPartProps {
  readonly session: Session
  readonly changed: () => Promise<void>
}

export function PasswordPart({ session, changed }: PasswordPartProps) {
  const { texts, say } = useSettings()
  const { password } = texts
  const { given, ...present } = usePresentPassword(session)
  const [next, setNext] = useState('')
  const { problem, isBusy, attempt } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(
      () => changePassword(given, next),
      () => {
        present.setTyped('')
        setNext('')
        say(password.changed)
        void changed()
      },
    )
  }

  return (
    <Part title={password.title} why={session.has_password ? password.why : password.none}>
      <form className="dialog-form" onSubmit={submit}>
        {/* Tells password managers whose password it is. */}
        <input autoComplete="username" hidden readOnly value={session.username} />
        <PresentPassword {...present} />
        <div>
          <TextInput
            autoComplete="new-password"
            label={password.next}
            maxLength={LONGEST}
            onChange={({ currentTarget }) => setNext(currentTarget.value)}
            required
            type="password"
            value={next}
            withAsterisk={false}
          />
          <StrengthMeter known={[session.username]} password={next} />
        </div>
        <Problem text={problem} />
        <Button className="add" disabled={isBusy} type="submit">
          {password.change}
        </Button>
      </form>
    </Part>
  )
}
