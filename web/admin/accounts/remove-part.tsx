import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { AdminAccount } from '../../../src/contract/administration.ts'
import { leaveFor } from '../../shared/app/leave.ts'
import { PageSection } from '../../shared/app/part.tsx'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { useAttempt } from '../../shared/app/use-attempt.ts'
import { Dialog } from '../../shared/dialogs/dialog.tsx'
import { DialogActions } from '../../shared/dialogs/dialog-actions.tsx'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { removeAnyAccount } from '../client.ts'
import { adminPath } from '../data.ts'

/** The end of the account. */
export function RemovePart({ account }: { account: AdminAccount }) {
  const { account: texts } = useAdmin().texts
  const [isAsking, setIsAsking] = useState(false)
  return (
    <PageSection title={texts.remove} why={texts.removeWhy}>
      <Button className="add" color="red" onClick={() => setIsAsking(true)} variant="light">
        {texts.removeButton}
      </Button>
      {isAsking ? <RemoveDialog account={account} close={() => setIsAsking(false)} /> : null}
    </PageSection>
  )
}

/** Says what goes, and asks for the name, before it is gone for good. */
function RemoveDialog({ account, close }: { account: AdminAccount; close: () => void }) {
  const { texts, words } = useAdmin()
  const { account: names, common } = texts
  const [name, setName] = useState('')
  const { problem, isBusy, attempt } = useAttempt()
  const what = {
    files: words.count(account.files_count, common.files),
    size: words.size(account.storage_used),
  }

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(
      () => removeAnyAccount(account, name.toLowerCase()),
      () => leaveFor(adminPath('accounts')),
    )
  }

  return (
    <Dialog
      close={close}
      closeText={common.close}
      title={fill(names.removeOf, { name: account.username })}
      why={fill(names.removeSure, what)}
    >
      <form className="dialog-form" onSubmit={submit}>
        <TextInput
          autoCapitalize="none"
          autoComplete="off"
          data-autofocus
          label={fill(names.typeName, { name: account.username })}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          required
          spellCheck={false}
          value={name}
          withAsterisk={false}
        />
        <ProblemMessage text={problem} />
        <DialogActions
          cancel={close}
          cancelText={common.cancel}
          isDeletion
          isDisabled={isBusy || name.toLowerCase() !== account.username}
          verb={names.removeForGood}
        />
      </form>
    </Dialog>
  )
}
