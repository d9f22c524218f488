/** Limits that stand in two places: in the code and in the documents, or on a page and in the server. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const textOf = (path: string) => readFileSync(join(import.meta.dir, '../../..', path), 'utf8')

/** The whole number that a constant is in the source of a module. */
function limit(path: string, name: string): number {
  const [, digits] = new RegExp(`^(?:export )?const ${name} = ([\\d_]+)$`, 'm').exec(textOf(path)) ?? []
  if (digits === undefined) throw new Error(`${path} has no number ${name}`)
  return Number(digits.replaceAll('_', ''))
}

const BATCH = ['src/server/requests/fields.ts', 'MOST_OF_BATCH'] as const
const EMPTY = ['src/uploads/resumable/creation.ts', 'MOST_EMPTY_OF_ADDRESS'] as const

test.each([
  ['docs/guide/previews.md', 'texts after {} lines', 'web/file/code.ts', 'MAX_LINES'],
  ['docs/guide/previews.md', 'tables after {} columns', 'web/file/table.ts', 'MAX_COLUMNS'],
  ['docs/guide/previews.md', 'or {} cells', 'web/file/table.ts', 'MAX_CELLS'],
  ['docs/guide/previews.md', 'PDFs after {} pages', 'web/file/pdf.ts', 'MAX_PAGES'],
  ['docs/guide/resumable-uploads.md', 'At most {} uploads from one address', ...EMPTY],
  ['docs/guide/links.md', 'or up to {} of both', ...BATCH],
  ['docs/guide/links.md', 'its newest {} events', 'src/core/link-events.rows.ts', 'MOST_EVENTS'],
  ['docs/guide/links.md', 'a link makes {} folders at most', 'src/domain/upload-terms.ts', 'MOST_FILES'],
  ['docs/api/README.md', 'A batch takes up to {} items', ...BATCH],
  ['docs/api/README.md', 'An account has at most {} keys', 'src/accounts/keys.ts', 'MOST_KEYS'],
  ['docs/api/README.md', 'and makes at most {} a day', 'src/accounts/keys.ts', 'NEW_KEYS'],
  [
    'docs/api/README.md',
    'An address makes {} such links a day',
    'src/sharing/links/links.ts',
    'NEW_GUEST_LINKS',
  ],
  ['docs/api/README.md', 'and {} changes an hour', 'src/sharing/links/links.ts', 'CHANGES'],
  ['docs/api/README.md', 'has {} characters at most', 'src/domain/report.ts', 'MAX_REPORT_TEXT'],
  ['docs/api/README.md', 'may send {} reports an hour', 'src/sharing/reports.ts', 'REPORTS_AN_HOUR'],
])('%s says %p, as the code has it', (document, sentence, module, name) => {
  const said = sentence.replace('{}', limit(module, name).toLocaleString('en'))
  expect(textOf(document).replaceAll(/\s+/g, ' ')).toContain(said)
})

test.each([
  ['web/files/client.ts', 'BATCH_SIZE', ...BATCH],
  [
    'web/start/transfer/term-chips.tsx',
    'LONGEST_MESSAGE',
    'src/sharing/links/link-terms.ts',
    'LONGEST_MESSAGE',
  ],
  ['web/start/transfer/term-chips.tsx', 'LONGEST_NAME', 'src/sharing/links/link-terms.ts', 'LONGEST_NAME'],
  [
    'web/start/transfer/term-chips.tsx',
    'LONGEST_SENDER',
    'src/sharing/links/link-terms.ts',
    'LONGEST_SENDER',
  ],
  ['web/files/links/more-terms.tsx', 'MOST_DOWNLOADS', 'src/sharing/links/link-terms.ts', 'MOST_DOWNLOADS'],
  ['src/client/local-file.ts', 'HEAD', 'src/uploads/incoming-content.ts', 'HEAD_LENGTH'],
])('%s has a %s that is what the server has', (module, name, server, its) => {
  expect(limit(module, name)).toBe(limit(server, its))
})
