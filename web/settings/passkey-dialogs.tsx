import { TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Passkey, Session } from '../../src/contract/session.ts'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { AttemptFailure, useAttempt } from '../shared/app/use-attempt.ts'
import { Dialog } from '../shared/dialogs/dialog.tsx'
import { DialogActions } from '../shared/dialogs/dialog-actions.tsx'
import { fill } from '../shared/words.ts'
import { addPasskey, beginPasskey, renamePasskey } from './client.ts'
import { PresentPassword, usePresentPassword } from './present-password.tsx'
import { useSettings } from './settings-context.ts'
import type { SettingsTexts } from './texts.ts'

interface DialogProps {
  readonly close: () => void
  /** Once it is done. */
  readonly then: () => Promise<void>
}

export function AddPasskeyDialog({ session, close, then }: DialogProps & { readonly session: Session }) {
  const { common, passkeys } = useSettings().texts
  const { given, ...present } = usePresentPassword(session)
  const [name, setName] = useState('')
  const { problem, passwordProblem, isBusy, attempt } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(async () => {
      const publicKey = await beginPasskey(given)
      await addPasskey(name, await makePasskey(publicKey, passkeys))
    }, then)
  }

  return (
    <Dialog close={close} closeText={common.close} title={passkeys.add}>
      <form className="dialog-form" onSubmit={submit}>
        <NameField hint={passkeys.nameHint} name={name} setName={setName} />
        <PresentPassword {...present} problem={passwordProblem} />
        <ProblemMessage text={problem} />
        <DialogActions cancel={close} cancelText={common.cancel} isDisabled={isBusy} verb={passkeys.make} />
      </form>
    </Dialog>
  )
}

/** Asks the browser. Throws Hindrance when it makes none, for whatever reason. */
async function makePasskey(
  publicKey: PublicKeyCredentialCreationOptions,
  texts: SettingsTexts['passkeys'],
): Promise<object> {
  try {
    const credential = await navigator.credentials.create({ publicKey })
    if (credential instanceof PublicKeyCredential) return credential.toJSON()
  } catch (error) {
    // https://w3c.github.io/webauthn/#sctn-createCredential
    const isThere = error instanceof DOMException && error.name === 'InvalidStateError'
    if (isThere) throw new AttemptFailure(texts.thereAlready)
  }
  throw new AttemptFailure(texts.failed)
}

export function RenamePasskeyDialog({ passkey, close, then }: DialogProps & { readonly passkey: Passkey }) {
  const { common, passkeys } = useSettings().texts
  const [name, setName] = useState(passkey.name ?? '')
  const { problem, isBusy, attempt } = useAttempt()
  const title = fill(passkeys.renameOf, { name: passkey.name ?? passkeys.unnamed })

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(() => renamePasskey(passkey, name), then)
  }

  return (
    <Dialog close={close} closeText={common.close} title={title}>
      <form className="dialog-form" onSubmit={submit}>
        <NameField name={name} setName={setName} />
        <ProblemMessage text={problem} />
        <DialogActions cancel={close} cancelText={common.cancel} isDisabled={isBusy} verb={common.save} />
      </form>
    </Dialog>
  )
}

interface NameFieldProps {
  readonly name: string
  readonly setName: (name: string) => void
  readonly hint?: string
}

function NameField({ name, setName, hint }: NameFieldProps) {
  const { passkeys } = useSettings().texts
  return (
    <TextInput
      autoComplete="off"
      data-autofocus
      description={hint}
      label={passkeys.name}
      maxLength={100}
      onChange={({ currentTarget }) => setName(currentTarget.value)}
      required
      value={name}
      withAsterisk={false}
    />
  )
}
