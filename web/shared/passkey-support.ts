import { type PasskeyPlaceTexts, passkeyObstacleAt } from './passkey-place.ts'

export const knowsPasskeys = () =>
  'PublicKeyCredential' in window && 'parseRequestOptionsFromJSON' in PublicKeyCredential

export function passkeyObstacle(texts: PasskeyPlaceTexts): string | null {
  const { publicUrl } = document.documentElement.dataset
  return publicUrl === undefined ? null : passkeyObstacleAt(location.origin, publicUrl, texts)
}
