import { useState } from 'react'
import type { Session } from '../../src/contract/session.ts'
import { PasswordField } from '../shared/password-field.tsx'
import { useSettings } from './settings-context.ts'

/** Shows that it is the owner who sits there. `given`: what the server is sent; null for who has no password. */
export function usePresentPassword({ has_password: isThere }: Session) {
  const [typed, setTyped] = useState('')
  return { given: isThere ? typed : null, typed, setTyped, isThere }
}

type PresentPasswordProps = Omit<ReturnType<typeof usePresentPassword>, 'given'>

export function PresentPassword({ typed, setTyped, isThere }: PresentPasswordProps) {
  const { common } = useSettings().texts
  if (!isThere) return <p className="quiet">{common.noPassword}</p>
  return (
    <PasswordField
      autoComplete="current-password"
      data-autofocus
      label={common.presentPassword}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      required
      show={common.showPassword}
      value={typed}
    />
  )
}
