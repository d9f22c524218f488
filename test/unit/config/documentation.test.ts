import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { settings } from '../../../src/settings.ts'

const PAGE = join(import.meta.dir, '../../../docs/guide/configuration.md')

test('the guide lists every setting as the program has it, and no other', async () => {
  const rows = (await Bun.file(PAGE).text()).split('\n').filter((line) => line.startsWith('| `HOLDFAST_'))
  const expected = Object.values(settings).map(({ variable, default: fallback, description, allowed }) => {
    return `| \`${variable}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${description} Allowed: ${allowed}. |`
  })
  expect(rows).toEqual(expected)
})
