import { createHmac } from 'node:crypto'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** TOTP code for the secret, so many time steps from now (RFC 6238). */
export const codeOf = codesAt(Date.now)

/** `codeOf` for a server whose clock a test sets. */
export function codesAt(now: () => number): (secret: string, later?: number) => string {
  return (secret, later = 0) => codeAt(secret, Math.floor(now() / 30_000) + later)
}

function codeAt(secret: string, step: number): string {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const count = Buffer.alloc(8)
  count.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', key).update(count).digest()
  const at = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
