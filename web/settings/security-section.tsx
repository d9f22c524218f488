import { Loaded } from '../shared/loaded.tsx'
import { useAnswer } from '../shared/use-answer.ts'
import { fetchSession } from './client.ts'
import { CodesPart } from './codes-part.tsx'
import { PasskeysPart } from './passkeys-part.tsx'
import { PasswordPart } from './password-part.tsx'
import { SessionsPart } from './sessions-part.tsx'

/** How somebody signs in, and where they are signed in. */
export function SecuritySection() {
  const { answered, again } = useAnswer(fetchSession)
  return (
    <Loaded again={again} answered={answered}>
      {(session) => (
        <>
          <PasswordPart changed={again} session={session} />
          <PasskeysPart session={session} />
          <CodesPart changed={again} session={session} />
          <SessionsPart />
        </>
      )}
    </Loaded>
  )
}
