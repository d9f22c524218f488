import { isMostlyUtf8 } from '../../src/domain/text-bytes.ts'

/** The upper half of code page 437, in which names are that do not say that they are UTF-8. */
const UPPER_437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

/** The name of an entry. Many programs write UTF-8 without saying so; one wrong byte of it is one wrong character. */
export function zipEntryName(bytes: Uint8Array, isUtf8: boolean): string {
  if (isUtf8 || isMostlyUtf8(bytes)) return new TextDecoder().decode(bytes)
  return Array.from(bytes, (byte) =>
    byte < 0x80 ? String.fromCharCode(byte) : (UPPER_437[byte - 0x80] ?? '?'),
  ).join('')
}
