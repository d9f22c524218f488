import { fill } from '../shared/words.ts'
import { element, foreignText } from './elements.ts'
import { type PreviewContext, present, presentMessage } from './stage.ts'
import { readZipDirectory } from './zip-directory.ts'

const LIMITS = { entries: 1000, bytes: 1024 ** 2 }

/** Shows what is in a ZIP file. Only its list is read: nothing is unpacked, however much it says that there is. */
export async function show({ stage, source, page, words }: PreviewContext): Promise<void> {
  const { texts } = page
  const { entries, total } = await readZipDirectory(source.size, source.read, LIMITS)
  if (entries.length === 0) return presentMessage(stage, page, texts.noEntries)
  const table = element(
    'table',
    {},
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        element('th', { scope: 'col' }, texts.entryName),
        element('th', { scope: 'col', class: 'align-right' }, texts.entrySize),
      ),
    ),
    element(
      'tbody',
      {},
      ...entries.map((entry) =>
        element(
          'tr',
          {},
          element('td', {}, element('bdi', {}, foreignText(entry.path))),
          element('td', { class: 'align-right' }, entry.isFolder ? '' : words.size(entry.size)),
        ),
      ),
    ),
  )
  const frame = element(
    'div',
    { class: 'table entries', tabindex: '0', role: 'region', 'aria-label': source.name },
    table,
  )
  const shown = { shown: words.number(entries.length), total: words.number(total) }
  const isAll = entries.length >= total
  present(stage, [frame], isAll ? words.count(total, texts.entries) : fill(texts.firstEntries, shown))
}
