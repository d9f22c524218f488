import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { problemOf } from '../files/problem.ts'
import { Drawing } from '../shared/drawing.tsx'
import { useSettings } from './settings-context.ts'
import type { Answered } from './use-answer.ts'

interface LoadedProps<T> {
  readonly answered: Answered<T>
  readonly again: () => Promise<void>
  readonly children: (value: T) => ReactNode
}

/** What was asked for once it is there, and before that the room for it; or why it is not. */
export function Loaded<T>({ answered, again, children }: LoadedProps<T>) {
  switch (answered.kind) {
    case 'waiting':
      return <div aria-busy="true" className="coming" />
    case 'there':
      return children(answered.value)
    case 'failed':
      return <Failed again={again} isSignedOut={problemOf(answered.error) === 'signed out'} />
  }
}

function Failed({ again, isSignedOut }: { again: () => Promise<void>; isSignedOut: boolean }) {
  const { common } = useSettings().texts
  return (
    <div className="failed" role="alert">
      <p>{isSignedOut ? common.signedOut : common.network}</p>
      <p className="quiet">{isSignedOut ? common.signedOutWhy : common.networkWhy}</p>
      {isSignedOut ? (
        <Button component="a" href={`/sign-in?next=${encodeURIComponent(location.pathname)}`}>
          {common.signIn}
        </Button>
      ) : (
        <Button leftSection={<Drawing of="refresh" />} onClick={() => void again()} variant="default">
          {common.retry}
        </Button>
      )}
    </div>
  )
}
