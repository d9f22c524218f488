export const mailEn = {
  pages: {
    forgotten: {
      title: 'Forgot your password?',
      why: 'If your account has an email address, you get a link to set a new password.',
      submit: 'Send the link',
    },
    forgottenSent: {
      title: 'Check your email',
      why: 'If the account exists and has an email address, a link is on its way. It works for an hour.',
      submit: null,
    },
    noMail: {
      title: 'Forgot your password?',
      why: 'This server sends no email. Ask whoever runs it for a link to set a new password.',
      submit: null,
    },
    proved: {
      title: 'Confirmed',
      why: 'Go back to the tab you came from; it continues by itself. You can close this one.',
      submit: null,
    },
    verify: {
      title: 'Is this your address?',
      why: 'Email for the account {username} will go to {address}.',
      submit: 'Confirm the address',
    },
    verified: {
      title: 'Address confirmed',
      why: 'Email for the account {username} now goes to {address}.',
      submit: null,
    },
    keep: {
      title: 'Keep the files?',
      why: 'Soon to be deleted from the account {username}: {files}. Keeping them adds {days} days.',
      submit: 'Keep them',
    },
    kept: {
      title: 'The files are kept',
      why: 'A file stays as long as somebody opens it every {days} days.',
      submit: null,
    },
    staying: {
      title: 'The files stay',
      why: 'The files of this account are no longer deleted when nobody opens them.',
      submit: null,
    },
    nothingToKeep: {
      title: 'Nothing to keep',
      why: 'The files have been opened in the meantime, or they are gone.',
      submit: null,
    },
    unsubscribe: {
      title: 'Stop emails about files?',
      why: 'The account {username} will no longer be warned before unopened files are deleted, nor told of damaged files and of what comes by its links.',
      submit: 'Unsubscribe',
    },
    unsubscribed: {
      title: 'You are unsubscribed',
      why: 'You can turn them on again in the settings of the account {username}.',
      submit: null,
    },
  },
  files: { one: 'One file', other: '{count} files' },
  nameOrAddress: 'User name or email address',
  toSignIn: 'Sign in',
}
