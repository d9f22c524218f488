import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Session } from '../../src/contract/session.ts'
import { LONGEST_DISPLAY_NAME } from '../../src/domain/account.ts'
import { PageSection } from '../shared/app/part.tsx'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { useAttempt } from '../shared/app/use-attempt.ts'
import { fill } from '../shared/words.ts'
import { changeDisplayName } from './client.ts'
import { useSettings } from './settings-context.ts'

interface DisplayNamePartProps {
  readonly session: Session
  readonly changed: () => Promise<void>
}

export function DisplayNamePart({ session, changed }: DisplayNamePartProps) {
  const { texts, say } = useSettings()
  const { account } = texts
  const present = session.display_name ?? ''
  const [name, setName] = useState(present)
  const { problem, isBusy, attempt } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(
      () => changeDisplayName(name),
      (stored) => {
        setName(stored ?? '')
        say(
          stored === null ? account.displayNameTakenOff : fill(account.displayNameChanged, { name: stored }),
        )
        return changed()
      },
    )
  }

  return (
    <PageSection title={account.displayName} why={account.displayNameWhy}>
      <form className="dialog-form" onSubmit={submit}>
        <TextInput
          autoComplete="name"
          description={account.displayNameHint}
          label={account.displayName}
          maxLength={LONGEST_DISPLAY_NAME}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          value={name}
        />
        <ProblemMessage text={problem} />
        <Button className="add" disabled={isBusy || name.trim() === present} type="submit" variant="default">
          {account.saveDisplayName}
        </Button>
      </form>
    </PageSection>
  )
}
