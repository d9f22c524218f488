import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Session } from '../../src/contract/session.ts'
import { Loaded } from '../shared/app/loaded.tsx'
import { PageSection } from '../shared/app/part.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { fetchSession } from './client.ts'
import { DisplayNamePart } from './display-name-part.tsx'
import { MailSection } from './mail-part.tsx'
import { RemoveAccountDialog } from './remove-account-dialog.tsx'
import { useSettings } from './settings-context.ts'
import { UsernamePart } from './username-part.tsx'

/** The names of the account, where its mail goes, and its end. */
export function AccountSection() {
  const { hasMail } = useSettings().data
  const { answered, again } = useAnswer(fetchSession)
  return (
    <Loaded again={again} answered={answered}>
      {(session) => (
        <>
          <DisplayNamePart changed={again} session={session} />
          <UsernamePart changed={again} session={session} />
          {hasMail ? <MailSection session={session} /> : null}
          <RemovePart session={session} />
        </>
      )}
    </Loaded>
  )
}

function RemovePart({ session }: { session: Session }) {
  const { account } = useSettings().texts
  const [isAsking, setIsAsking] = useState(false)
  return (
    <PageSection title={account.remove} why={account.removeWhy}>
      <Button className="add" color="red" onClick={() => setIsAsking(true)} variant="light">
        {account.removeButton}
      </Button>
      {isAsking ? <RemoveAccountDialog close={() => setIsAsking(false)} session={session} /> : null}
    </PageSection>
  )
}
