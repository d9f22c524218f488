import { type FormEvent, useState } from 'react'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { CheckField } from '../../shared/check-field.tsx'
import { DialogActions } from '../../shared/dialogs/dialog-actions.tsx'
import { fill } from '../../shared/words.ts'
import { changeFolder, type FolderChange } from '../client.ts'
import type { FolderEntry } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { FilesDialog } from './dialog.tsx'
import { changedPassword, ProtectionField, presentProtection } from './protection-field.tsx'
import { useListAttempt } from './use-attempt.ts'

export function SettingsDialog({ folder, close }: { folder: FolderEntry; close: () => void }) {
  const { texts, manager, commands } = useFiles()
  const { dialogs } = texts
  const { hasPassword } = folder
  const [isPublic, setIsPublic] = useState(folder.isPublic)
  const [protection, setProtection] = useState(presentProtection(hasPassword))
  const { problem, isBusy, attempt } = useListAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    const password = changedPassword(protection, hasPassword)
    const change: FolderChange = {
      ...(isPublic === folder.isPublic ? {} : { public: isPublic }),
      ...(password === undefined ? {} : { password }),
    }
    void attempt(async () => {
      if (Object.keys(change).length > 0) await changeFolder(folder, change)
      commands.say(fill(texts.announced.saved, { name: folder.name }))
      void manager.refresh()
    }, close)
  }

  return (
    <FilesDialog close={close} title={fill(dialogs.settingsOf, { name: folder.name })}>
      <form className="dialog-form" onSubmit={submit}>
        <CheckField isChecked={isPublic} set={setIsPublic} text={dialogs.public} why={dialogs.publicWhy} />
        <ProtectionField hasPassword={hasPassword} protection={protection} set={setProtection} />
        <ProblemMessage isSmall text={problem} />
        <DialogActions cancel={close} cancelText={dialogs.cancel} isDisabled={isBusy} verb={dialogs.save} />
      </form>
    </FilesDialog>
  )
}
