import { fill } from './words.ts'

/** Where passkeys work, as texts say it. */
export interface PasskeyPlaceTexts {
  /** {address} */
  readonly elsewhere: string
  /** For a server whose public address is an IP address. */
  readonly nowhere: string
}

/**
 * Why no passkey can be made or used on a page of that origin, or null: they belong to the host name of the public address,
 * and every attempt at another one fails.
 */
export function passkeyObstacleAt(
  origin: string,
  publicUrl: string,
  texts: PasskeyPlaceTexts,
): string | null {
  const address = new URL(publicUrl)
  if (/^\[|^[\d.]+$/.test(address.hostname)) return texts.nowhere
  return address.origin === origin ? null : fill(texts.elsewhere, { address: publicUrl })
}
