import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Session } from '../../src/contract/session.ts'
import { PageSection } from '../shared/app/part.tsx'
import { endCodes, renewRecoveryCodes } from './client.ts'
import { OwnerDialog } from './owner-dialog.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import { SetUpCodesDialog } from './set-up-codes-dialog.tsx'
import { useSettings } from './settings-context.ts'

type Shown =
  | { readonly kind: 'set up' | 'renew' | 'turn off' }
  | { readonly kind: 'recovery'; readonly codes: readonly string[] }

interface CodesPartProps {
  readonly session: Session
  readonly changed: () => Promise<void>
}

/** Codes that signing in with the password takes besides. */
export function CodesPart({ session, changed }: CodesPartProps) {
  const { texts, say } = useSettings()
  const { codes } = texts
  const [shown, show] = useState<Shown | null>(null)
  const close = () => show(null)

  return (
    <PageSection title={codes.title} why={codes.why}>
      <p>{session.has_codes ? codes.on : codes.off}</p>
      <div className="buttons">
        {session.has_codes ? (
          <>
            <Button onClick={() => show({ kind: 'renew' })} variant="default">
              {codes.renew}
            </Button>
            <Button color="red" onClick={() => show({ kind: 'turn off' })} variant="light">
              {codes.turnOff}
            </Button>
          </>
        ) : (
          <Button onClick={() => show({ kind: 'set up' })} variant="default">
            {codes.setUp}
          </Button>
        )}
      </div>
      {shown?.kind === 'set up' ? <SetUpCodesDialog close={close} session={session} then={changed} /> : null}
      {shown?.kind === 'renew' ? (
        <OwnerDialog
          act={renewRecoveryCodes}
          close={close}
          session={session}
          then={(made) => show({ kind: 'recovery', codes: made })}
          title={codes.renew}
          verb={codes.renew}
          why={codes.renewWhy}
        />
      ) : null}
      {shown?.kind === 'recovery' ? <RecoveryCodes close={close} codes={shown.codes} /> : null}
      {shown?.kind === 'turn off' ? (
        <OwnerDialog
          act={endCodes}
          close={close}
          isDeletion
          session={session}
          then={() => {
            close()
            say(codes.turnedOff)
            return changed()
          }}
          title={codes.turnOff}
          verb={codes.turnOff}
          why={codes.turnOffWhy}
        />
      ) : null}
    </PageSection>
  )
}
