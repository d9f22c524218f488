/** The rows, and what separates their cells: by a first line as spreadsheets write it, or the name; empty to find it out. */
export function separated(text: string, name: string): { readonly text: string; readonly delimiter: string } {
  const [line, named = ''] = /^"?sep=([^\r\n"])"?(?:\n|$)/i.exec(text) ?? []
  if (line !== undefined) return { text: text.slice(line.length), delimiter: named }
  return { text, delimiter: name.toLowerCase().endsWith('.tsv') ? '\t' : '' }
}
