import type { Entry } from '../entry.ts'
import type { FilesContextValue } from '../files-context.ts'

/** How large an entry is: the bytes of a file, the files in a folder and below it. */
export function amountOf(entry: Entry, { texts, words, shown }: FilesContextValue): string {
  if (entry.kind === 'file') return words.size(entry.size)
  return words.count(shown.tree?.fileCount(entry) ?? entry.fileCount, texts.filesIn)
}
