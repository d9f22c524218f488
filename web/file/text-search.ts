import { fill } from '../shared/words.ts'
import type { FileScriptTexts } from './data.ts'
import { element } from './elements.ts'

/** A field that finds the next line with a text, also in what has not been read yet. */
export function searchForm({
  texts,
  rows,
  readOn,
  goTo,
}: {
  readonly texts: Pick<FileScriptTexts, 'search' | 'line' | 'notFound'>
  /** Grows by `readOn`, which is false at the end. */
  readonly rows: readonly HTMLElement[]
  readonly readOn: () => Promise<boolean>
  readonly goTo: (line: number) => void
}): HTMLFormElement {
  const field = element('input', { type: 'search', placeholder: texts.search, 'aria-label': texts.search })
  const told = element('output', { class: 'small quiet' })
  const form = element('form', { class: 'lines-search', role: 'search' }, field, told)
  /** The line that was found last. */
  let from = 0
  let searches = 0

  const has = (row: HTMLElement | undefined, wanted: string) =>
    row?.lastElementChild?.textContent?.toLowerCase().includes(wanted) === true

  /** From the line behind the last one found, then from the beginning; null for none, and for another search meanwhile. */
  async function find(wanted: string): Promise<number | null> {
    searches += 1
    const search = searches
    for (let index = from; ; index += 1) {
      if (index >= rows.length && !(await readOn())) break
      if (search !== searches) return null
      if (has(rows[index], wanted)) return index + 1
    }
    const again = rows.slice(0, from).findIndex((row) => has(row, wanted))
    return again === -1 ? 0 : again + 1
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const wanted = field.value.toLowerCase()
    if (wanted === '') return
    const line = await find(wanted)
    if (line === null) return
    from = line
    told.textContent = line === 0 ? texts.notFound : fill(texts.line, { line: String(line) })
    if (line > 0) goTo(line)
  })
  field.addEventListener('input', () => {
    from = 0
    told.textContent = ''
  })
  return form
}
