import { TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { CheckField } from '../../shared/check-field.tsx'
import { DialogActions } from '../../shared/dialogs/dialog-actions.tsx'
import { fill } from '../../shared/words.ts'
import { changeFolder, type FolderChange } from '../client.ts'
import type { FolderEntry } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { FilesDialog } from './dialog.tsx'
import { useListAttempt } from './use-attempt.ts'

type Protection = 'none' | 'kept' | 'new'

/** Who may see a folder: everybody with its link, or its owner alone; with a password or without. */
export function SettingsDialog({ folder, close }: { folder: FolderEntry; close: () => void }) {
  const { texts, manager, commands } = useFiles()
  const { dialogs } = texts
  const [isPublic, setIsPublic] = useState(folder.isPublic)
  const [protection, setProtection] = useState<Protection>(folder.hasPassword ? 'kept' : 'none')
  const [password, setPassword] = useState('')
  const { problem, isBusy, attempt } = useListAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    const change: FolderChange = {
      ...(isPublic === folder.isPublic ? {} : { public: isPublic }),
      ...(protection === 'new' ? { password } : {}),
      ...(protection === 'none' && folder.hasPassword ? { password: null } : {}),
    }
    void attempt(async () => {
      if (Object.keys(change).length > 0) await changeFolder(folder, change)
      commands.say(fill(texts.announced.saved, { name: folder.name }))
      void manager.refresh()
    }, close)
  }

  const choices: readonly Protection[] = folder.hasPassword ? ['kept', 'new', 'none'] : ['none', 'new']
  return (
    <FilesDialog close={close} title={fill(dialogs.settingsOf, { name: folder.name })}>
      <form className="dialog-form" onSubmit={submit}>
        <CheckField isChecked={isPublic} set={setIsPublic} text={dialogs.public} why={dialogs.publicWhy} />
        <fieldset>
          <legend>{dialogs.password}</legend>
          {choices.map((choice) => (
            <label className="check" key={choice}>
              <input
                checked={protection === choice}
                name="protection"
                onChange={() => setProtection(choice)}
                type="radio"
              />
              <span>{dialogs.protections[choice]}</span>
            </label>
          ))}
        </fieldset>
        {protection === 'new' ? (
          <TextInput
            autoComplete="new-password"
            label={dialogs.newPassword}
            maxLength={128}
            onChange={({ currentTarget }) => setPassword(currentTarget.value)}
            required
            type="password"
            value={password}
            withAsterisk={false}
          />
        ) : null}
        <ProblemMessage isSmall text={problem} />
        <DialogActions cancel={close} cancelText={dialogs.cancel} isDisabled={isBusy} verb={dialogs.save} />
      </form>
    </FilesDialog>
  )
}
