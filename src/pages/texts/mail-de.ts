import type { MailTexts } from './texts.ts'

export const mailDe: MailTexts = {
  pages: {
    forgotten: {
      title: 'Passwort vergessen?',
      why: 'Wenn dein Konto eine E-Mail-Adresse hat, bekommst du einen Link für ein neues Passwort.',
      submit: 'Link senden',
    },
    forgottenSent: {
      title: 'Sieh in deinem Postfach nach',
      why: 'Wenn es das Konto gibt und es eine E-Mail-Adresse hat, ist ein Link unterwegs. Er gilt eine Stunde.',
      submit: null,
    },
    noMail: {
      title: 'Passwort vergessen?',
      why: 'Dieser Server verschickt keine E-Mails. Bitte den Betreiber um einen Link für ein neues Passwort.',
      submit: null,
    },
    proved: {
      title: 'Bestätigt',
      why: 'Geh zurück zu dem Tab, aus dem du kommst: Dort geht es von selbst weiter. Diesen kannst du schließen.',
      submit: null,
    },
    verify: {
      title: 'Ist das deine Adresse?',
      why: 'E-Mails zum Konto {username} gehen dann an {address}.',
      submit: 'Adresse bestätigen',
    },
    verified: {
      title: 'Die Adresse ist bestätigt',
      why: 'E-Mails zum Konto {username} gehen ab jetzt an {address}.',
      submit: null,
    },
    keep: {
      title: 'Dateien behalten?',
      why: 'Im Konto {username} bald gelöscht: {files}. Behältst du sie, bleiben sie weitere {days} Tage.',
      submit: 'Behalten',
    },
    kept: {
      title: 'Die Dateien bleiben',
      why: 'Eine Datei bleibt, solange jemand sie alle {days} Tage öffnet.',
      submit: null,
    },
    staying: {
      title: 'Die Dateien bleiben',
      why: 'Die Dateien dieses Kontos werden nicht mehr gelöscht, wenn niemand sie öffnet.',
      submit: null,
    },
    nothingToKeep: {
      title: 'Nichts zu behalten',
      why: 'Jemand hat die Dateien inzwischen geöffnet, oder sie sind nicht mehr da.',
      submit: null,
    },
    unsubscribe: {
      title: 'Keine E-Mails über Dateien mehr?',
      why: 'Für das Konto {username} kommt dann keine Warnung mehr, bevor ungeöffnete Dateien gelöscht werden, und keine Nachricht über beschädigte Dateien und was über Links kommt.',
      submit: 'Abbestellen',
    },
    unsubscribed: {
      title: 'Abbestellt',
      why: 'In den Einstellungen des Kontos {username} lassen sie sich wieder einschalten.',
      submit: null,
    },
  },
  files: { one: 'Eine Datei', other: '{count} Dateien' },
  nameOrAddress: 'Benutzername oder E-Mail-Adresse',
  toSignIn: 'Anmelden',
}
