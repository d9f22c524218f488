import { useState } from 'react'
import { Loaded } from '../shared/app/loaded.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { fetchSession } from './client.ts'
import { CodesPart } from './codes-part.tsx'
import { PasskeysPart } from './passkeys-part.tsx'
import { PasswordPart } from './password-part.tsx'
import { SessionsPart } from './sessions-part.tsx'

/** How somebody signs in, and where they are signed in. */
export function SecuritySection() {
  const { answered, again } = useAnswer(fetchSession)
  const [changes, setChanges] = useState(0)

  /** Other sessions may have ended, and this one may be another. */
  async function changed(): Promise<void> {
    setChanges(changes + 1)
    await again()
  }

  return (
    <Loaded again={again} answered={answered}>
      {(session) => (
        <>
          <PasswordPart changed={changed} session={session} />
          <PasskeysPart session={session} />
          <CodesPart changed={changed} session={session} />
          <SessionsPart key={changes} />
        </>
      )}
    </Loaded>
  )
}
