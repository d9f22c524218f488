import type { ProofTexts } from '../../../web/shared/app/app-context.ts'

export const proofDe: ProofTexts = {
  title: 'Bestätige, dass du es bist',
  why: 'Deine letzte Anmeldung liegt eine Weile zurück. Bestätige noch einmal, um fortzufahren.',
  password: 'Dein Passwort',
  confirm: 'Bestätigen',
  passkey: 'Passkey verwenden',
  passkeyPlace: {
    elsewhere: 'Passkeys funktionieren nur unter {address}.',
    nowhere:
      'Passkeys funktionieren hier nicht: Die öffentliche Adresse des Servers ist eine IP-Adresse, und sie brauchen einen Namen.',
  },
  passkeyFailed: 'Der Browser hat keinen Passkey verwendet. Versuche es noch einmal.',
  other: 'Mit {name} anmelden',
  waiting: 'Melde dich im anderen Tab an und komm dann hierher zurück. Es geht von selbst weiter.',
  none: 'Dieses Konto hat keine Möglichkeit mehr, sich anzumelden. Wende dich an den Betreiber dieses Servers.',
}
