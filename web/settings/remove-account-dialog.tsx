import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Dialog } from '../shared/dialog.tsx'
import { Loaded } from '../shared/loaded.tsx'
import { Problem } from '../shared/problem.tsx'
import { useAnswer } from '../shared/use-answer.ts'
import { useAttempt } from '../shared/use-attempt.ts'
import { fill } from '../shared/words.ts'
import { fetchAccount, removeAccount } from './client.ts'
import { PresentPassword, usePresentPassword } from './present-password.tsx'
import { useSettings } from './settings-context.ts'
import type { Session } from './shapes.ts'

interface RemoveAccountDialogProps {
  readonly session: Session
  readonly close: () => void
}

/** Says what goes, and asks for the name and the password, before everything is gone for good. */
export function RemoveAccountDialog({ session, close }: RemoveAccountDialogProps) {
  const { texts, words } = useSettings()
  const { account, common } = texts
  const { answered, again } = useAnswer(fetchAccount)
  const [name, setName] = useState('')
  const { given, ...present } = usePresentPassword(session)
  const { problem, isBusy, attempt } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(
      () => removeAccount(given, name),
      () => location.assign('/'),
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
        <PresentPassword {...present} />
        <Problem text={problem} />
        <div className="dialog-actions">
          <Button onClick={close} type="button" variant="default">
            {common.cancel}
          </Button>
          <Button color="red" disabled={isBusy || name.toLowerCase() !== session.username} type="submit">
            {account.removeForGood}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
