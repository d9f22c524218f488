import type { MailTexts } from './texts.ts'

export const mailEn: MailTexts = {
  pages: {
    forgotten: {
      title: 'Forgot your password?',
      why: 'You get a mail with a link, if your account has an address.',
      submit: 'Send the mail',
    },
    forgottenSent: {
      title: 'Look into your mails',
      why: 'If there is such an account and it has an address, a mail is on its way. Its link works for an hour.',
      submit: null,
    },
    noMail: {
      title: 'Forgot your password?',
      why: 'This server sends no mails. Ask whoever runs it for a link to set a new password.',
      submit: null,
    },
    proved: {
      title: 'That was you',
      why: 'Go back to the tab you came from: it goes on by itself. You can close this one.',
      submit: null,
    },
    verify: {
      title: 'Is this your address?',
      why: 'Mails for the account {username} are to go to {address}.',
      submit: 'Confirm the address',
    },
    verified: {
      title: 'The address is confirmed',
      why: 'Mails for the account {username} go to {address} from now on.',
      submit: null,
    },
    keep: {
      title: 'Keep the files?',
      why: 'Soon to be deleted from the account {username}: {files}. Keeping counts as opening, and lasts another {days} days.',
      submit: 'Keep them',
    },
    kept: {
      title: 'The files are kept',
      why: 'A file stays as long as somebody opens it every {days} days.',
      submit: null,
    },
    nothingToKeep: {
      title: 'Nothing is to be kept',
      why: 'Somebody has opened the files meanwhile, or they are gone.',
      submit: null,
    },
    unsubscribe: {
      title: 'No more mails about files?',
      why: 'The owner of the account {username} is then no longer told before files are deleted that nobody opens.',
      submit: 'Send no more of them',
    },
    unsubscribed: {
      title: 'No more such mails are sent',
      why: 'The settings of the account {username} turn them on again.',
      submit: null,
    },
  },
  files: { one: 'One file', other: '{count} files' },
  nameOrAddress: 'User name or mail address',
  toSignIn: 'Sign in',
}
