import type { UploadLinkTexts } from './texts.ts'

export const uploadLinkDe: UploadLinkTexts = {
  title: '{owner} bittet um Dateien',
  asks: '{owner} bittet dich um Dateien.',
  unseen: 'Du brauchst kein Konto und siehst nichts von dem, was andere schicken.',
  kinds: 'Nur diese Arten: {kinds}.',
  mediaTypes: { 'image/*': 'Bilder', 'video/*': 'Videos', 'audio/*': 'Tonaufnahmen', 'text/*': 'Texte' },
  full: 'Über diesen Link wird nichts mehr angenommen. Wende dich an die Person, die ihn geschickt hat.',
  most: { one: 'Bis zu {count} Datei.', other: 'Bis zu {count} Dateien.' },
  received: 'Die Datei ist angekommen.',
  labels: { sender: 'Dein Name', address: 'Deine E-Mail-Adresse', reference: 'Kennzeichen' },
  optional: '{label} (freiwillig)',
  app: {
    drop: 'Dateien oder Ordner hier ablegen und schicken',
    choose: 'Dateien zum Schicken auswählen',
    dropNow: 'Loslassen zum Schicken',
    paste: 'Du kannst auch ein Bild oder Text einfügen.',
    upload: 'Schicken',
    list: 'Was du schickst',
    uploaded: { one: '{count} Datei geschickt', other: '{count} Dateien geschickt' },
    notUploaded: { one: '{count} Datei nicht geschickt', other: '{count} Dateien nicht geschickt' },
    uploading: { one: '{count} Datei wird geschickt', other: '{count} Dateien werden geschickt' },
    states: {
      starting: 'Beginnt',
      done: '{size}, angekommen',
      deletionAsked:
        'Diese Datei zurückziehen? Sie wird endgültig gelöscht, auch für die Person, an die du sie geschickt hast.',
      deleting: 'Wird zurückgezogen',
      deletionFailed:
        'Die Datei ließ sich nicht zurückziehen. Gilt dieser Link nicht mehr, bleibt sie; sonst versuche es noch einmal.',
      deleted: 'Zurückgezogen',
    },
    delete: 'Zurückziehen',
    deleteForGood: 'Endgültig zurückziehen',
    earlier: {
      title: {
        one: '{count} Datei aus diesem Browser geschickt',
        other: '{count} Dateien aus diesem Browser geschickt',
      },
      why: 'Nur du siehst sie hier. Solange dieser Link gilt, kannst du sie zurückziehen.',
      facts: '{size}, geschickt am {day}',
      manage: 'Beleg',
      forgetAsked:
        'Vergessen, was du geschickt hast? Es bleibt bei der Person, an die du es geschickt hast, aber du kannst es hier nicht mehr zurückziehen.',
    },
  },
}
