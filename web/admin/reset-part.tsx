import { Button } from '@mantine/core'
import { useState } from 'react'
import { Part } from '../shared/part.tsx'
import { fill } from '../shared/words.ts'
import { useAdmin } from './admin-context.ts'
import { resetAccount } from './client.ts'
import { LinkDialog } from './link-dialog.tsx'
import type { Account } from './shapes.ts'

interface ResetPartProps {
  readonly account: Account
  readonly changed: () => Promise<void>
}

/** For who has forgotten the password, or lost what gives the codes. */
export function ResetPart({ account, changed }: ResetPartProps) {
  const { account: texts } = useAdmin().texts
  const [isAsking, setIsAsking] = useState(false)
  const [secondFactor, setSecondFactor] = useState(false)

  function close(): void {
    setIsAsking(false)
    setSecondFactor(false)
    void changed()
  }

  return (
    <Part title={texts.reset} why={texts.resetWhy}>
      <Button className="add" onClick={() => setIsAsking(true)} variant="default">
        {texts.resetButton}
      </Button>
      {isAsking ? (
        <LinkDialog
          act={() => resetAccount(account, secondFactor)}
          close={close}
          isDeletion
          label={texts.resetDone}
          title={fill(texts.resetOf, { name: account.username })}
          verb={texts.resetButton}
        >
          <p>{texts.resetSure}</p>
          <label className="check">
            <input
              checked={secondFactor}
              onChange={({ currentTarget }) => setSecondFactor(currentTarget.checked)}
              type="checkbox"
            />
            <span>{texts.secondFactor}</span>
          </label>
        </LinkDialog>
      ) : null}
    </Part>
  )
}
