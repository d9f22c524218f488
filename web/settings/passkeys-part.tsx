import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Passkey, Session } from '../../src/contract/session.ts'
import { Loaded } from '../shared/app/loaded.tsx'
import { PageSection } from '../shared/app/part.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { ConfirmDialog } from '../shared/dialogs/confirm-dialog.tsx'
import { Drawing } from '../shared/drawings/drawing.tsx'
import { passkeyObstacle } from '../shared/passkey-support.ts'
import { fill } from '../shared/words.ts'
import { fetchPasskeys, removePasskey } from './client.ts'
import { AddPasskeyDialog, RenamePasskeyDialog } from './passkey-dialogs.tsx'
import { useSettings } from './settings-context.ts'

type Shown =
  | { readonly kind: 'add' }
  | { readonly kind: 'rename'; readonly passkey: Passkey }
  | { readonly kind: 'remove'; readonly passkey: Passkey }

export function PasskeysPart({ session }: { session: Session }) {
  const { texts, say } = useSettings()
  const { answered, again } = useAnswer(fetchPasskeys)
  const [shown, show] = useState<Shown | null>(null)
  const close = () => show(null)
  const { passkeys } = texts
  const obstacle = passkeyObstacle(texts.common.proof.passkeyPlace)

  async function done(text: string): Promise<void> {
    close()
    say(text)
    await again()
  }

  return (
    <PageSection title={passkeys.title} why={passkeys.why}>
      <Loaded again={again} answered={answered}>
        {(all) => <PasskeyList passkeys={all} show={show} />}
      </Loaded>
      {obstacle !== null ? (
        <p className="quiet">{obstacle}</p>
      ) : 'PublicKeyCredential' in window && 'parseCreationOptionsFromJSON' in PublicKeyCredential ? (
        <Button className="add" onClick={() => show({ kind: 'add' })} variant="default">
          {passkeys.add}
        </Button>
      ) : (
        <p className="quiet">{passkeys.unknown}</p>
      )}
      {shown?.kind === 'add' ? (
        <AddPasskeyDialog close={close} session={session} then={() => done(passkeys.added)} />
      ) : null}
      {shown?.kind === 'rename' ? (
        <RenamePasskeyDialog close={close} passkey={shown.passkey} then={() => done(passkeys.renamed)} />
      ) : null}
      {shown?.kind === 'remove' ? (
        <ConfirmDialog
          act={() => removePasskey(shown.passkey)}
          close={close}
          then={() => done(passkeys.removed)}
          title={fill(passkeys.removeOf, { name: nameOf(shown.passkey, passkeys.unnamed) })}
          verb={passkeys.remove}
          why={passkeys.removeWhy}
        />
      ) : null}
    </PageSection>
  )
}

interface PasskeyListProps {
  readonly passkeys: readonly Passkey[]
  readonly show: (shown: Shown) => void
}

function PasskeyList({ passkeys, show }: PasskeyListProps) {
  const { texts, words } = useSettings()
  if (passkeys.length === 0) return <p className="quiet">{texts.passkeys.empty}</p>
  return (
    <ul className="plain-rows">
      {passkeys.map((passkey) => {
        const name = nameOf(passkey, texts.passkeys.unnamed)
        return (
          <li key={passkey.id}>
            <div className="plain-words">
              <span className="row-name">{name}</span>
              <span className="small quiet">
                {fill(texts.passkeys.created, { day: words.day(passkey.created_at) })}
              </span>
            </div>
            <button
              aria-label={fill(texts.passkeys.renameOf, { name })}
              className="icon-button"
              onClick={() => show({ kind: 'rename', passkey })}
              type="button"
            >
              <Drawing of="pencil" />
            </button>
            <button
              aria-label={fill(texts.passkeys.removeOf, { name })}
              className="icon-button"
              data-deletion
              onClick={() => show({ kind: 'remove', passkey })}
              type="button"
            >
              <Drawing of="trash" />
            </button>
          </li>
        )
      })}
    </ul>
  )
}

function nameOf({ name }: Passkey, unnamed: string): string {
  return name === null || name === '' ? unnamed : name
}
