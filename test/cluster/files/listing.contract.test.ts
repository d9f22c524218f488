import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createFileLists } from '../../../src/files/files.ts'
import { addCopies } from '../../support/contents/file-copies.ts'
import { buildParts } from '../../support/servers/parts.ts'

const FILES = 5000

test('all files of a folder are walked in steps, and never held together', async () => {
  await using parts = await buildParts()
  const { id } = await parts.store('content', 'before.txt')
  await addCopies(parts.db, id, FILES - 1)
  const walk = (await createFileLists(parts.db, parts.usage).walk(parts.caller, 'root'))[
    Symbol.asyncIterator
  ]()
  const names: string[] = []
  for (let next = await walk.next(); !next.done; next = await walk.next()) {
    // The oldest, which comes last.
    if (names.length === 0) await sql`update files set name = 'after.txt' where id = ${id}`.execute(parts.db)
    names.push(next.value.name)
  }
  expect([names.length, names.at(-1)]).toEqual([FILES, 'after.txt'])
})
