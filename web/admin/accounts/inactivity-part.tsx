import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { AdminAccount } from '../../../src/contract/administration.ts'
import { MOST_INACTIVE_DAYS } from '../../../src/domain/account.ts'
import { wholeNumber } from '../../../src/domain/ids.ts'
import { PageSection } from '../../shared/app/part.tsx'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { useAttempt } from '../../shared/app/use-attempt.ts'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { changeAccount } from '../client.ts'

interface InactivityPartProps {
  readonly account: AdminAccount
  readonly changed: () => Promise<void>
}

/** How long files of the account stay that nobody opens. */
export function InactivityPart({ account, changed }: InactivityPartProps) {
  const { texts, say } = useAdmin()
  const { account: names } = texts
  const [typed, setTyped] = useState(account.inactive_days === null ? '' : String(account.inactive_days))
  const { problem, isBusy, attempt, setProblem } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    const days = typed.trim() === '' ? null : wholeNumber(typed.trim())
    if ((days === null && typed.trim() !== '') || (days !== null && days > MOST_INACTIVE_DAYS)) {
      setProblem(names.inactiveWrong)
      return
    }
    void attempt(
      () => changeAccount(account, { inactive_days: days }),
      () => {
        say(fill(names.inactiveSaved, { name: account.username }))
        return changed()
      },
    )
  }

  return (
    <PageSection title={names.inactive} why={names.inactiveWhy}>
      <form className="dialog-form" onSubmit={submit}>
        <TextInput
          autoComplete="off"
          description={names.inactiveHint}
          inputMode="numeric"
          label={names.inactiveField}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          value={typed}
        />
        <ProblemMessage text={problem} />
        <Button className="add" disabled={isBusy} type="submit" variant="default">
          {texts.common.save}
        </Button>
      </form>
    </PageSection>
  )
}
