import { Button } from '@mantine/core'
import { useState } from 'react'
import type { AdminAccountDetail, OneTimeLink } from '../../../src/contract/administration.ts'
import { PageSection } from '../../shared/app/part.tsx'
import { CheckField } from '../../shared/check-field.tsx'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { type ResetOptions, resetAccount } from '../client.ts'
import { LinkDialog } from './link-dialog.tsx'

interface ResetPartProps {
  readonly account: AdminAccountDetail
  readonly changed: () => Promise<void>
}

const NOTHING: ResetOptions = { second_factor: false, mail_address: false }

/** For who has forgotten the password, or lost what gives the codes. */
export function ResetPart({ account, changed }: ResetPartProps) {
  const { account: texts } = useAdmin().texts
  const [isAsking, setIsAsking] = useState(false)
  const [besides, setBesides] = useState(NOTHING)

  function close(): void {
    setIsAsking(false)
    setBesides(NOTHING)
  }

  async function reset(): Promise<OneTimeLink> {
    const link = await resetAccount(account, besides)
    void changed()
    return link
  }

  return (
    <PageSection title={texts.reset} why={texts.resetWhy}>
      <Button className="add" onClick={() => setIsAsking(true)} variant="default">
        {texts.resetButton}
      </Button>
      {isAsking ? (
        <LinkDialog
          act={reset}
          close={close}
          isDeletion
          label={texts.resetDone}
          title={fill(texts.resetOf, { name: account.username })}
          verb={texts.resetButton}
          why={texts.resetSure}
        >
          <CheckField
            isChecked={besides.second_factor}
            text={texts.secondFactor}
            set={(second_factor) => setBesides({ ...besides, second_factor })}
          />
          {account.has_mail ? (
            <CheckField
              isChecked={besides.mail_address}
              text={texts.mailAddress}
              set={(mail_address) => setBesides({ ...besides, mail_address })}
            />
          ) : null}
        </LinkDialog>
      ) : null}
    </PageSection>
  )
}
