import type { Language } from '../domain/language.ts'
import type { ListItem, MailText } from './mail-text.ts'

export function plainTextBody({ paragraphs, list, link, rest, end }: MailText): string {
  const items = list === undefined ? [] : [...list.items.flatMap(plainItem), list.more ?? []].flat()
  const blocks = [
    ...paragraphs,
    ...(items.length === 0 ? [] : [items.join('\n')]),
    ...(link === undefined ? [] : [`${link.label}:\n${link.address}`]),
    ...rest,
    ...(end === undefined ? [] : [`${end.label}:\n${end.address}`]),
  ]
  return `${blocks.join('\n\n')}\n`
}

function plainItem(item: ListItem): string[] {
  const lines = typeof item === 'string' ? [item] : [item.text, ...item.items.map((each) => `  ${each}`)]
  return lines.map((line) => `  ${unlinked(line)}`)
}

/** No styles, pictures or scripts: the mail program's own style applies. */
export function html({ subject, paragraphs, list, link, rest, end }: MailText, language: Language): string {
  const paragraph = (text: string) => `<p>${escaped(text)}</p>`
  const leading = ({ label, address }: { label: string; address: string }) =>
    `<p><a href="${escaped(address)}">${escaped(label)}</a></p>`
  const blocks = [
    ...paragraphs.map(paragraph),
    ...(list === undefined ? [] : [listOf(list.items)]),
    ...(list === undefined || list.more === null ? [] : [paragraph(list.more)]),
    ...(link === undefined ? [] : [leading(link)]),
    ...rest.map(paragraph),
    ...(end === undefined ? [] : [leading(end)]),
  ]
  const head = `<meta charset="utf-8"><title>${escaped(subject)}</title>`
  return `<!doctype html><html lang="${language}"><head>${head}</head><body>${blocks.join('')}</body></html>`
}

function listOf(items: readonly ListItem[]): string {
  const shown = items.map((item) => {
    const { text, items: below } = typeof item === 'string' ? { text: item, items: [] } : item
    return `<li><bdi>${escaped(unlinked(text))}</bdi>${below.length === 0 ? '' : listOf(below)}</li>`
  })
  return `<ul>${shown.join('')}</ul>`
}

/** Zero-width spaces keep mail programs from linking names, senders and titles, which strangers choose. */
function unlinked(text: string): string {
  return text.replace(/:\/\/|[.@:](?=[\p{L}/])/gu, '$&\u200B')
}

function escaped(text: string): string {
  return Bun.escapeHTML(text)
}
