import { TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { NewApiKey } from '../../src/contract/keys.ts'
import { SCOPES, type Scope } from '../../src/domain/access.ts'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { useAttempt } from '../shared/app/use-attempt.ts'
import { CheckField } from '../shared/check-field.tsx'
import { DialogActions } from '../shared/dialogs/dialog-actions.tsx'
import { type End, momentOf } from '../shared/end.ts'
import { EndField } from '../shared/end-field.tsx'
import { createKey } from './client.ts'
import { FolderField } from './folder-field.tsx'
import { useSettings } from './settings-context.ts'

/** In days. */
const EXPIRIES = [30, 90, 365] as const

interface NewKeyFormProps {
  readonly cancel: () => void
  readonly made: (key: NewApiKey) => void
}

export function NewKeyForm({ cancel, made }: NewKeyFormProps) {
  const { texts, words } = useSettings()
  const { common, keys, newKey } = texts
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['upload'])
  const [folder, setFolder] = useState<string | null>(null)
  const [expiry, setExpiry] = useState<End | null>({ kind: 'never' })
  const { problem, isBusy, attempt } = useAttempt()

  function toggle(scope: Scope): void {
    setScopes(SCOPES.filter((each) => scopes.includes(each) !== (each === scope)))
  }

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(
      () =>
        createKey({
          name,
          scopes,
          folder,
          expires_at: expiry === null ? null : momentOf(expiry, Date.now()),
        }),
      made,
    )
  }

  return (
    <form className="dialog-form" onSubmit={submit}>
      <TextInput
        autoComplete="off"
        data-autofocus
        description={newKey.nameHint}
        label={newKey.name}
        maxLength={100}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        required
        value={name}
        withAsterisk={false}
      />
      <fieldset>
        <legend>{newKey.scopes}</legend>
        {SCOPES.map((scope) => (
          <CheckField
            isChecked={scopes.includes(scope)}
            key={scope}
            set={() => toggle(scope)}
            text={keys.scopes[scope]}
            why={newKey.scopeWhys[scope]}
          />
        ))}
      </fieldset>
      <FolderField choose={setFolder} chosen={folder} />
      <EndField
        choices={EXPIRIES}
        choose={setExpiry}
        chosen={expiry}
        texts={{ ...newKey, label: newKey.expires }}
        words={words}
      />
      <ProblemMessage text={problem} />
      <DialogActions
        cancel={cancel}
        cancelText={common.cancel}
        isDisabled={isBusy || scopes.length === 0}
        verb={newKey.create}
      />
    </form>
  )
}
