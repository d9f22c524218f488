import { RAW_FACTOR } from './measured-text.ts'

declare const brand: unique symbol

/** An address that mail can be sent to: ASCII alone, nothing that means something in a mail's header. */
export type MailAddress = string & { readonly [brand]: 'MailAddress' }

const LONGEST = 254
/** A host in its own script is longer or shorter than in ASCII; its conversion takes the square of its length. */
const LONGEST_WRITTEN = RAW_FACTOR * LONGEST
/** RFC 5321's dot-string, of 64 characters at most. */
const LOCAL = /^(?=.{1,64}$)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i
const DOMAIN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

/** The address, its domain in the ASCII form of IDNA; null for what is none. */
export function parseMailAddress(text: string): MailAddress | null {
  if (text.length > LONGEST_WRITTEN) return null
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || !LOCAL.test(local) || !/^[\p{L}\p{N}\p{M}.-]+$/u.test(domain)) return null
  const host = URL.parse(`http://${domain}`)?.hostname ?? ''
  // Digits at the end make an address of IP out of it.
  if (!DOMAIN.test(host) || /(^|\.)\d+$/.test(host)) return null
  const address = `${local}@${host}`
  return address.length <= LONGEST ? (address as MailAddress) : null
}

/** What two ways to write the same address have in common: nobody gives small and capital letters to different people. */
export function foldMailAddress(address: MailAddress): string {
  return address.toLowerCase()
}

/** Who a mail is from: an address, or a name with the address in angle brackets behind it. Null for anything else. */
export function parseSender(text: string): { readonly name: string; readonly address: MailAddress } | null {
  const [, name = '', inBrackets = text] = /^([^<>"\p{Cc}]{1,100}?)\s*<([^<>]+)>$/u.exec(text) ?? []
  const address = parseMailAddress(inBrackets)
  return address === null ? null : { name: name.trim(), address }
}
