import { TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Session } from '../../src/contract/session.ts'
import { leaveFor } from '../shared/app/leave.ts'
import { Loaded } from '../shared/app/loaded.tsx'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { useAttempt } from '../shared/app/use-attempt.ts'
import { Dialog } from '../shared/dialogs/dialog.tsx'
import { DialogActions } from '../shared/dialogs/dialog-actions.tsx'
import { fill } from '../shared/words.ts'
import { fetchOwnAccount, removeOwnAccount } from './client.ts'
import { PresentPassword, usePresentPassword } from './present-password.tsx'
import { useSettings } from './settings-context.ts'

interface RemoveAccountDialogProps {
  readonly session: Session
  readonly close: () => void
}

/** Says what goes, and asks for the name and the password, before everything is gone for good. */
export function RemoveAccountDialog({ session, close }: RemoveAccountDialogProps) {
  const { texts, words } = useSettings()
  const { account, common } = texts
  const { answered, again } = useAnswer(fetchOwnAccount)
  const [name, setName] = useState('')
  const { given, ...present } = usePresentPassword(session)
  const { problem, passwordProblem, isBusy, attempt } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(
      () => removeOwnAccount(given, name),
      () => leaveFor('/'),
    )
  }

  return (
    <Dialog close={close} closeText={common.close} title={account.removeTitle}>
      <Loaded again={again} answered={answered}>
        {({ files_count: files, storage_used: bytes }) => (
          <p>
            {fill(account.removeSure, { files: words.count(files, account.files), size: words.size(bytes) })}
          </p>
        )}
      </Loaded>
      <form className="dialog-form" onSubmit={submit}>
        <TextInput
          autoCapitalize="none"
          autoComplete="off"
          data-autofocus
          label={fill(account.typeName, { name: session.username })}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          required
          spellCheck={false}
          value={name}
          withAsterisk={false}
        />
        <PresentPassword {...present} problem={passwordProblem} />
        <ProblemMessage text={problem} />
        <DialogActions
          cancel={close}
          cancelText={common.cancel}
          isDeletion
          isDisabled={isBusy || name.toLowerCase() !== session.username}
          verb={account.removeForGood}
        />
      </form>
    </Dialog>
  )
}
