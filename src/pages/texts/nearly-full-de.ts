import type { NearlyFullTexts } from '../../../web/shared/app/nearly-full.tsx'

export const nearlyFullDe: NearlyFullTexts = {
  nearlyFull: 'Dein Speicher ist fast voll: {used} von {limit} belegt.',
  full: 'Dein Speicher ist voll: {used} von {limit} belegt.',
  makeRoom: 'Lösche, was du nicht mehr brauchst, oder bitte den Betreiber dieses Servers um mehr.',
  makeRoomInBin: 'Leere den Papierkorb mit {size}, oder bitte den Betreiber dieses Servers um mehr.',
}
