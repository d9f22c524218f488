import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { refusalOf } from '../files/ask.ts'
import { problemOf } from '../files/problem.ts'
import { useApp } from './app-context.ts'
import { Drawing } from './drawing.tsx'
import type { Answered } from './use-answer.ts'

interface LoadedProps<T> {
  readonly answered: Answered<T>
  readonly again: () => Promise<void>
  readonly children: (value: T) => ReactNode
  /** What comes is a form of one field. */
  readonly isShort?: boolean
}

/** What was asked for once it is there, and before that the room for it; or why it is not. */
export function Loaded<T>({ answered, again, children, isShort = false }: LoadedProps<T>) {
  switch (answered.kind) {
    case 'waiting':
      // What comes is no element that was here before and has moved.
      return <div aria-busy="true" className="coming" data-short={isShort || undefined} key="coming" />
    case 'there':
      return children(answered.value)
    case 'failed':
      return <Failed again={again} error={answered.error} />
  }
}

function Failed({ again, error }: { again: () => Promise<void>; error: unknown }) {
  const { texts } = useApp()
  const isSignedOut = problemOf(error) === 'signed out'
  const reason = texts.reasons[refusalOf(error) ?? '']
  if (reason !== undefined && !isSignedOut) return <p role="alert">{reason}</p>
  return (
    <div className="failed" role="alert">
      <p>{isSignedOut ? texts.signedOut : texts.network}</p>
      <p className="quiet">{isSignedOut ? texts.signedOutWhy : texts.networkWhy}</p>
      {isSignedOut ? (
        <Button
          component="a"
          href={`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`}
        >
          {texts.signIn}
        </Button>
      ) : (
        <Button leftSection={<Drawing of="refresh" />} onClick={() => void again()} variant="default">
          {texts.retry}
        </Button>
      )}
    </div>
  )
}
