import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'

/** HTML of a text by the operator. HTML in it is escaped, and addresses other than of the web and of mail are dropped. */
export function markdownHtml(text: string): string {
  const known = rendered.get(text)
  if (known !== undefined) return known
  const html = micromark(text, { extensions: [gfm()], htmlExtensions: [gfmHtml()] })
  if (rendered.size === MOST_KEPT) rendered.clear()
  rendered.set(text, html)
  return html
}

/** The operator's texts are few, and a long one takes milliseconds. */
const rendered = new Map<string, string>()
const MOST_KEPT = 8
