import { fill } from './words.ts'

export interface PasskeyPlaceTexts {
  /** {address} */
  readonly elsewhere: string
  /** For a server whose public address is an IP address. */
  readonly nowhere: string
}

/** Passkeys belong to the host name of the public address. Null where they work. */
export function passkeyObstacleAt(
  origin: string,
  publicUrl: string,
  texts: PasskeyPlaceTexts,
): string | null {
  const address = new URL(publicUrl)
  if (/^\[|^[\d.]+$/.test(address.hostname)) return texts.nowhere
  return address.origin === origin ? null : fill(texts.elsewhere, { address: publicUrl })
}
