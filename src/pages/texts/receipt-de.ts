import type { ReceiptTexts } from './receipt-texts.ts'

export const receiptDe: ReceiptTexts = {
  yours: 'Diese Datei hast du hochgeladen',
  uploaded: '{size}, hochgeladen am {day}',
  arriving: '{received} von {size} sind angekommen. Der Upload geht dort weiter, wo er begonnen wurde.',
  arrivingUnsized: '{received} sind angekommen. Der Upload geht dort weiter, wo er begonnen wurde.',
  open: 'Datei öffnen',
  keep: 'Bis {day} behalten',
  name: 'Name',
  rename: 'Umbenennen',
  kept: 'Sie bleibt mindestens bis {day}.',
  renamed: 'Umbenannt.',
  claim: 'In mein Konto übernehmen',
  claimWhy:
    'Du bist als {account} angemeldet. In deinem Konto belegt die Datei deinen Speicher, und du verwaltest sie bei deinen Dateien.',
  claimed: 'Die Datei ist in deinem Konto',
  claimedWhy:
    'Ihr Link ist derselbe. Von nun an verwaltest du sie bei deinen Dateien; diese Seite gibt es nicht mehr.',
  signInToClaim: 'Melde dich an, um sie in ein Konto zu übernehmen',
  toFiles: 'Zu meinen Dateien',
  delete: 'Löschen',
  deleteWhy: 'Die Datei ist sofort für alle weg, die ihren Link haben. Niemand kann sie zurückholen.',
  deleteForGood: 'Endgültig löschen',
  deleted: 'Die Datei ist gelöscht',
  deletedWhy: 'Ihr Link funktioniert nicht mehr.',
  elsewhere: 'Auf einem anderen Gerät verwalten',
  elsewhereWhy:
    'Scanne dort diesen Code. Wer ihn hat, kann die Datei umbenennen und löschen: gib ihn nicht weiter.',
  code: 'Code dieser Seite',
  remember: 'In diesem Browser merken',
  remembered: 'Dieser Browser merkt sie sich, auf der Startseite.',
  rememberFailed: 'Dieser Browser behält für diese Seite nichts. Setze stattdessen ein Lesezeichen.',
  toStart: 'Zur Startseite',
}
