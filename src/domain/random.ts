import type { BlobKey, FolderIdentifier, LinkSlug, NodeId, Slug, UploadToken, Uuid } from './ids.ts'

/** From a CSPRNG; injected, so that tests are reproducible. */
export type Random = (length: number) => Uint8Array

export const systemRandom: Random = (length) => crypto.getRandomValues(new Uint8Array(length))

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const LETTERS = `${LOWER.toUpperCase()}${LOWER}`
const DIGITS = '0123456789'
/** Without `i` and `l`, `o`, and the halves of `m` and `w`. */
const DISTINCT = 'abcdefghjkmpqrstuwxyz'

/** 12 characters A–Z a–z 0–9, the first a letter. */
export function makeSlug(random: Random): Slug {
  return (pick(random, LETTERS, 1) + pick(random, LETTERS + DIGITS, 11)) as Slug
}

/** 16 characters of a–z and 2–9 that do not look alike, the first a letter: 76 bits. */
export function makeLinkSlug(random: Random): LinkSlug {
  return (pick(random, DISTINCT, 1) + pick(random, `${DISTINCT}2346789`, 15)) as LinkSlug
}

export function makeFolderIdentifier(random: Random): FolderIdentifier {
  return (pick(random, LOWER, 1) + pick(random, LOWER + DIGITS, 15)) as FolderIdentifier
}

/** Ten characters A–Z a–z 0–9 with a hyphen in the middle, for paper. */
export function makeRecoveryCode(random: Random): string {
  return `${pick(random, LETTERS + DIGITS, 5)}-${pick(random, LETTERS + DIGITS, 5)}`
}

export function makeBlobKey(random: Random): BlobKey {
  return Buffer.from(random(16)).toString('hex') as BlobKey
}

export function makeNodeId(random: Random): NodeId {
  return Buffer.from(random(16)).toString('hex') as NodeId
}

/** 128 random bits in hexadecimal. Possession authorizes appends. */
export function makeUploadToken(random: Random): UploadToken {
  return Buffer.from(random(16)).toString('hex') as UploadToken
}

export function makeUuid(random: Random): Uuid {
  const bytes = random(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Buffer.from(bytes).toString('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
  return parts.join('-') as Uuid
}

/** Unbiased: bytes past the last whole multiple of the alphabet's length are discarded. */
function pick(random: Random, alphabet: string, count: number): string {
  const fair = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < count) {
    for (const byte of random(count - text.length)) {
      if (byte < fair) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}
