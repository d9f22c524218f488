import { useState } from 'react'
import type { Session } from '../../src/contract/session.ts'
import { useProblemField } from '../shared/app/use-problem-field.ts'
import { PasswordField } from '../shared/password-field.tsx'
import { useSettings } from './settings-context.ts'

/** Shows that it is the owner who sits there. `given`: what the server is sent; null for who has no password. */
export function usePresentPassword({ has_password: isThere }: Session) {
  const [typed, setTyped] = useState('')
  return { given: isThere ? typed : null, typed, setTyped, isThere }
}

interface PresentPasswordProps extends Omit<ReturnType<typeof usePresentPassword>, 'given'> {
  /** That it was wrong. */
  readonly problem: string | null
}

export function PresentPassword({ typed, setTyped, isThere, problem }: PresentPasswordProps) {
  const { common } = useSettings().texts
  const field = useProblemField(problem)
  if (!isThere) return <p className="quiet">{common.noPassword}</p>
  return (
    <PasswordField
      autoComplete="current-password"
      data-autofocus
      error={problem}
      errorProps={{ role: 'alert' }}
      label={common.presentPassword}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      ref={field}
      required
      show={common.showPassword}
      value={typed}
    />
  )
}
