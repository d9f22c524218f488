import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { problemOf } from '../../files/problem.ts'
import { Drawing } from '../drawings/drawing.tsx'
import { refusedRequest } from '../fetch-json.ts'
import { signInAddress } from '../sign-in-address.ts'
import { useApp } from './app-context.ts'
import type { Answered } from './use-answer.ts'

interface LoadedProps<T> {
  readonly answered: Answered<T>
  readonly again: () => Promise<void>
  readonly children: (value: T) => ReactNode
  readonly isShort?: boolean
}

export function Loaded<T>({ answered, again, children, isShort = false }: LoadedProps<T>) {
  switch (answered.kind) {
    case 'waiting':
      // The key keeps React from reusing a previous element.
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
  const reason = texts.reasons[refusedRequest(error) ?? '']
  if (reason !== undefined && !isSignedOut) return <p role="alert">{reason}</p>
  return (
    <div className="failed" role="alert">
      <p>{isSignedOut ? texts.signedOut : texts.network}</p>
      <p className="quiet">{isSignedOut ? texts.signedOutWhy : texts.networkWhy}</p>
      {isSignedOut ? (
        <Button component="a" href={signInAddress()}>
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
