import { RAW_FACTOR } from './text.ts'

declare const brand: unique symbol

/** ASCII, without characters special in mail headers. */
export type MailAddress = string & { readonly [brand]: 'MailAddress' }

const LONGEST = 254
/** Limit before conversion, which takes quadratic time; a host in its own script may be longer than in ASCII. */
const LONGEST_WRITTEN = RAW_FACTOR * LONGEST
/** Dot-string of RFC 5321, at most 64 characters. */
const LOCAL = /^(?=.{1,64}$)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i
const DOMAIN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

/** With the domain in IDNA's ASCII form. */
export function parseMailAddress(text: string): MailAddress | null {
  if (text.length > LONGEST_WRITTEN) return null
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || !LOCAL.test(local) || !/^[\p{L}\p{N}\p{M}.-]+$/u.test(domain)) return null
  const host = URL.parse(`http://${domain}`)?.hostname ?? ''
  // A numeric last label would make the host an IP address.
  if (!DOMAIN.test(host) || /(^|\.)\d+$/.test(host)) return null
  const address = `${local}@${host}`
  return address.length <= LONGEST ? (address as MailAddress) : null
}

/** Case is ignored: no provider gives addresses that differ in case to different people. */
export function foldMailAddress(address: MailAddress): string {
  return address.toLowerCase()
}

export function parseSender(text: string): { readonly name: string; readonly address: MailAddress } | null {
  const [, name = '', inBrackets = text] = /^([^<>"\p{Cc}]{1,100}?)\s*<([^<>]+)>$/u.exec(text) ?? []
  const address = parseMailAddress(inBrackets)
  return address === null ? null : { name: name.trim(), address }
}
