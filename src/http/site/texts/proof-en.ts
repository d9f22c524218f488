import type { ProofTexts } from '../../../../web/shared/app-context.ts'

export const proofEn: ProofTexts = {
  title: 'Confirm that it is you',
  why: 'Your last sign-in was a while ago. Confirm once more, and what you asked for is done.',
  password: 'Your password',
  confirm: 'Confirm',
  passkey: 'Use a passkey',
  passkeyFailed: 'The browser did not use a passkey. Try again.',
  other: 'Sign in with {name}',
  waiting: 'Sign in in the other tab, then come back here. This goes on by itself.',
  none: 'This account has no way to sign in any more. Ask whoever runs this server.',
}
