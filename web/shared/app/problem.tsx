import { use } from 'react'
import { signInAddress } from '../sign-in-address.ts'
import { useSessionOver } from '../sign-in-link.tsx'
import { AppContext } from './app-context.ts'

/** Offers to sign in where that helps. */
export function ProblemMessage({ text, isSmall = false }: { text: string | null; isSmall?: boolean }) {
  const app = use(AppContext)
  const isSessionOver = useSessionOver()
  if (text === null) return null
  return (
    <p className={isSmall ? 'failure small' : 'failure'} role="alert">
      {text}
      {app === null || !isSessionOver ? null : (
        <>
          {' '}
          <a href={signInAddress()} target="_blank" rel="noopener">
            {app.texts.signIn}
          </a>
        </>
      )}
    </p>
  )
}
