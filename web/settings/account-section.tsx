import { Button } from '@mantine/core'
import { useState } from 'react'
import { Loaded } from '../shared/loaded.tsx'
import { Part } from '../shared/part.tsx'
import { useAnswer } from '../shared/use-answer.ts'
import { fetchSession } from './client.ts'
import { MailPart } from './mail-part.tsx'
import { RemoveAccountDialog } from './remove-account-dialog.tsx'
import { useSettings } from './settings-context.ts'
import type { Session } from './shapes.ts'
import { UsernamePart } from './username-part.tsx'

/** The name of the account, where its mail goes, and its end. */
export function AccountSection() {
  const { hasMail } = useSettings().data
  const { answered, again } = useAnswer(fetchSession)
  return (
    <Loaded again={again} answered={answered}>
      {(session) => (
        <>
          <UsernamePart changed={again} session={session} />
          {hasMail ? <MailPart session={session} /> : null}
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
    <Part title={account.remove} why={account.removeWhy}>
      <Button className="add" color="red" onClick={() => setIsAsking(true)} variant="light">
        {account.removeButton}
      </Button>
      {isAsking ? <RemoveAccountDialog close={() => setIsAsking(false)} session={session} /> : null}
    </Part>
  )
}
