import { Drawing } from '../shared/drawings/drawing.tsx'
import { SignInLink, useSessionOver } from '../shared/sign-in-link.tsx'
import { Told } from '../shared/told.tsx'
import { useFiles } from './files-context.ts'

export function SignedOutNote() {
  const { problems } = useFiles().texts
  if (!useSessionOver()) return null
  return (
    <div className="signed-out" role="alert">
      <Drawing of="lock" />
      <div className="signed-out-words">
        <p>{problems.signedOut}</p>
        <p className="small quiet">{problems.signedOutStays}</p>
      </div>
      <SignInLink label={problems.signIn} />
    </div>
  )
}

export function SignedOutNotice() {
  const { problems } = useFiles().texts
  return (
    <div className="notice" data-state="waiting">
      <Told className="notice-words">
        <p>{problems.signedOut}</p>
        <p className="small quiet">{problems.signedOutStays}</p>
      </Told>
      <div className="notice-actions">
        <SignInLink label={problems.signIn} />
      </div>
    </div>
  )
}
