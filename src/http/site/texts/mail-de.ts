import type { MailTexts } from './texts.ts'

export const mailDe: MailTexts = {
  pages: {
    forgotten: {
      title: 'Passwort vergessen?',
      why: 'Du bekommst eine E-Mail mit einem Link, wenn dein Konto eine Adresse hat.',
      submit: 'E-Mail senden',
    },
    forgottenSent: {
      title: 'Sieh in deine E-Mails',
      why: 'Wenn es ein solches Konto gibt und es eine Adresse hat, ist eine E-Mail unterwegs. Ihr Link gilt eine Stunde.',
      submit: null,
    },
    noMail: {
      title: 'Passwort vergessen?',
      why: 'Dieser Server verschickt keine E-Mails. Bitte den, der ihn betreibt, um einen Link für ein neues Passwort.',
      submit: null,
    },
    proved: {
      title: 'Das warst du',
      why: 'Geh zurück zu dem Tab, aus dem du kommst: Dort geht es von selbst weiter. Diesen kannst du schließen.',
      submit: null,
    },
    verify: {
      title: 'Ist das deine Adresse?',
      why: 'E-Mails zum Konto {username} sollen an {address} gehen.',
      submit: 'Adresse bestätigen',
    },
    verified: {
      title: 'Die Adresse ist bestätigt',
      why: 'E-Mails zum Konto {username} gehen ab jetzt an {address}.',
      submit: null,
    },
    keep: {
      title: 'Dateien behalten?',
      why: 'Bald gelöscht im Konto {username}: {files}. Behalten gilt wie ein Öffnen, für weitere {days} Tage.',
      submit: 'Behalten',
    },
    kept: {
      title: 'Die Dateien bleiben',
      why: 'Eine Datei bleibt, solange jemand sie alle {days} Tage öffnet.',
      submit: null,
    },
    nothingToKeep: {
      title: 'Es ist nichts zu behalten',
      why: 'Jemand hat die Dateien inzwischen geöffnet, oder sie sind nicht mehr da.',
      submit: null,
    },
    unsubscribe: {
      title: 'Keine E-Mails zu Dateien mehr?',
      why: 'Wem das Konto {username} gehört, erfährt dann nicht mehr vorher, wenn Dateien gelöscht werden, die niemand öffnet.',
      submit: 'Keine mehr senden',
    },
    unsubscribed: {
      title: 'Solche E-Mails gibt es nicht mehr',
      why: 'In den Einstellungen des Kontos {username} werden sie wieder angeschaltet.',
      submit: null,
    },
  },
  files: { one: 'Eine Datei', other: '{count} Dateien' },
  nameOrAddress: 'Benutzername oder E-Mail-Adresse',
  toSignIn: 'Anmelden',
}
