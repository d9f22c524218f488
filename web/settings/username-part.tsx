import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Session } from '../../src/contract/session.ts'
import { PageSection } from '../shared/app/part.tsx'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { useAttempt } from '../shared/app/use-attempt.ts'
import { fill } from '../shared/words.ts'
import { changeUsername } from './client.ts'
import { PresentPassword, usePresentPassword } from './present-password.tsx'
import { useSettings } from './settings-context.ts'

interface UsernamePartProps {
  readonly session: Session
  readonly changed: () => Promise<void>
}

export function UsernamePart({ session, changed }: UsernamePartProps) {
  const { texts, say } = useSettings()
  const { account } = texts
  const [name, setName] = useState(session.username)
  const { given, ...present } = usePresentPassword(session)
  const { problem, passwordProblem, isBusy, attempt } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(
      () => changeUsername(given, name),
      (now) => {
        setName(now)
        present.setTyped('')
        say(fill(account.changed, { name: now }))
        showInHead(now)
        return changed()
      },
    )
  }

  return (
    <PageSection title={account.name} why={account.nameWhy}>
      <form className="dialog-form" onSubmit={submit}>
        <TextInput
          autoCapitalize="none"
          autoComplete="username"
          description={account.usernameHint}
          label={account.username}
          maxLength={32}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          required
          spellCheck={false}
          value={name}
          withAsterisk={false}
        />
        <PresentPassword {...present} problem={passwordProblem} />
        <ProblemMessage text={problem} />
        <Button className="add" disabled={isBusy || name === session.username} type="submit">
          {account.change}
        </Button>
      </form>
    </PageSection>
  )
}

/** The head of the page came from the server. */
function showInHead(name: string): void {
  const shown = document.querySelector('.who-name')
  if (shown !== null) shown.textContent = name
}
