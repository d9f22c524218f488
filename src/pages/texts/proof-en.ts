export const proofEn = {
  title: 'Confirm that it is you',
  why: 'Your last sign-in was a while ago. Confirm once more to continue.',
  password: 'Your password',
  confirm: 'Confirm',
  passkey: 'Use a passkey',
  passkeyPlace: {
    elsewhere: 'Passkeys work only at {address}.',
    nowhere: 'Passkeys do not work here: the server’s public address is an IP address, and they need a name.',
  },
  passkeyFailed: 'The browser did not use a passkey. Try again.',
  other: 'Sign in with {name}',
  waiting: 'Sign in on the other tab, then come back here. It continues by itself.',
  none: 'This account has no way left to sign in. Ask whoever runs this server.',
}
