import type { Entry } from '../entry.ts'
import type { FilesContextValue } from '../files-context.ts'

/** A file's bytes, or the number of files in a folder and its descendants. */
export function amountOf(entry: Entry, { texts, words, shown }: FilesContextValue): string {
  if (entry.kind === 'file') return words.size(entry.size)
  return words.count(shown.tree?.fileCount(entry) ?? entry.fileCount, texts.filesIn)
}
