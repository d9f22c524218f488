import { Button } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { isSessionOver, watchSession } from './session.ts'
import { signInAddress } from './sign-in-address.ts'

export function useSessionOver(): boolean {
  return useSyncExternalStore(watchSession, isSessionOver, isSessionOver)
}

/** Opens a new window, so that nothing on this page is lost. */
export function SignInLink({ label }: { label: string }) {
  return (
    <Button component="a" href={signInAddress()} target="_blank" variant="light">
      {label}
    </Button>
  )
}
