/** How the content of a zip is found while its folder changes. */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'kysely'
import { archiveFolder } from '../../../src/downloads/zip/archive.rows.ts'
import type { PlanBuilder } from '../../../src/downloads/zip/archive-plan.ts'
import { planTree } from '../../../src/downloads/zip/archive-walk.ts'
import { resolvePlace } from '../../../src/files/folders/places.ts'
import { addCopies } from '../../support/contents/file-copies.ts'
import { buildParts } from '../../support/servers/parts.ts'

/** More than two statements read. */
const FILES = 1300

test('files whose names get their keys while a zip is planned are in it once', async () => {
  await using parts = await buildParts()
  const { db, caller } = parts
  const { id } = await parts.store('content', '0.txt')
  await addCopies(db, id, FILES - 1, (number) => `${number + 1}.txt`)
  await sql`update files set name_sort = ''`.execute(db)
  const job = new Database(join(parts.folder, 'holdfast.sqlite'))
  const names: string[] = []
  const plan: PlanBuilder = {
    addFolder: () => 0,
    addFile(_, name) {
      // As another node does it, between two statements of the walk.
      if (names.push(name) === 600) job.run('update files set name_sort = 9 || name_folded')
    },
    finish() {
      throw new Error('nobody finishes this plan')
    },
  }
  const row = await archiveFolder(db, await resolvePlace(db, caller, 'root'))
  await planTree(db, { row, entry: 0 }, () => true, plan, new AbortController().signal)
  job.close()
  const all = Array.from({ length: FILES }, (_, number) => `${number}.txt`)
  expect(names.toSorted()).toEqual(all.toSorted())
})
