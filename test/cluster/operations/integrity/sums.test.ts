/** What folders, bins and accounts count is compared with what there is, and put right on demand. */
import { describe, expect, test } from 'bun:test'
import { checkInstallation } from '../../../../src/contents/check.ts'
import { systemClock } from '../../../../src/domain/clock.ts'
import type { AccountId, BinEntryId, FolderIdentifier } from '../../../../src/domain/ids.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { type Api, api } from '../../../support/clients/api.ts'
import { intoBin, restore, totals } from '../../../support/clients/bin.ts'
import { GENEROUS } from '../../../support/clients/public.ts'
import { onCluster } from '../../../support/servers/holdfast.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'
import { unsoundTotals } from '../../../support/storage/soundness.ts'

const host = await hostOfFile(GENEROUS)

async function check(repairs: boolean) {
  const announced: string[] = []
  const { sums, repaired } = await checkInstallation({
    config: host.config,
    clock: systemClock,
    random: systemRandom,
    readData: { kind: 'nothing' },
    tell() {},
    work: { marks: 'none', removesOrphans: false, repairs, announce: (line) => announced.push(line) },
  })
  return { sums, repaired, announced }
}

interface Filled {
  readonly caller: Api
  readonly id: AccountId
  readonly username: string
  readonly outer: FolderIdentifier
  readonly inner: FolderIdentifier
  readonly binned: FolderIdentifier
  readonly entries: readonly BinEntryId[]
}

/** outer/inner with three files, and in the bin a file, and a folder with one file below another folder. */
async function filled(): Promise<Filled> {
  const { id, username, apiKey } = await host.addAccount()
  const caller = api(host, apiKey)
  const [outer, binned] = [await caller.folder('outer'), await caller.folder('binned')]
  const inner = await caller.folder('inner', { parent: outer })
  const below = await caller.folder('below', { parent: binned })
  const put = (content: string, folder?: string) =>
    caller.put(content, folder === undefined ? {} : { folder })
  await put('one', outer)
  await put('three', inner)
  await put('seven', inner)
  await put('binned', below)
  const { slug } = await put('away')
  const entries = await intoBin(caller, { folders: [binned], files: [slug] })
  await host.runJobs()
  return {
    caller,
    id: id as AccountId,
    username,
    ...{ outer: outer as FolderIdentifier, inner: inner as FolderIdentifier },
    ...{ binned: binned as FolderIdentifier, entries: entries as BinEntryId[] },
  }
}

test('what folders and bins count adds up whatever was done, and is named and counted again where it does not', async () => {
  const { caller, id, username, outer, inner, binned, entries } = await filled()
  expect(await check(true)).toEqual({ sums: [], repaired: [], announced: [] })
  const db = host.database
  const folder = (identifier: FolderIdentifier, wrong: { tree_files?: number; tree_height?: number }) =>
    db.updateTable('folders').set(wrong).where('identifier', '=', identifier).execute()
  await db
    .updateTable('folders')
    .set({ file_count: 9, tree_bytes: 1 })
    .where('identifier', '=', inner)
    .execute()
  await folder(outer, { tree_height: 0 })
  await folder(binned, { tree_files: 4 })
  const [entryOfFile = 0 as BinEntryId, entryOfFolder = 0 as BinEntryId] = entries
  await db.updateTable('bin').set({ bytes: 77 }).where('id', '=', entryOfFile).execute()
  await db.updateTable('accounts').set({ folders_count: 5, bin_entries: 8 }).where('id', '=', id).execute()
  const found = (await check(false)).sums
  expect(found.toSorted()).toEqual(
    [
      `${username}: folder ${inner}: 9 files directly in it are counted, there are 2`,
      `${username}: folder ${inner}: 1 bytes are counted, there are 10`,
      // By what the folder in it counts.
      `${username}: folder ${outer}: 13 bytes are counted, there are 4`,
      `${username}: folder ${outer}: 0 levels are counted below it, there are 1`,
      `${username}: folder ${binned}: 4 files are counted, there are 1`,
      `${username}: entry ${entryOfFolder} of the bin: 1 files with 6 bytes are counted, there are 4 with 6`,
      `${username}: entry ${entryOfFile} of the bin: 1 files with 77 bytes are counted, there are 1 with 4`,
      `${username}: 23 bytes are counted, its files have 96`,
      `${username}: 10 bytes are counted in the bin, there are 83`,
      `${username}: 5 folders are counted, there are 2`,
      `${username}: 8 entries are counted in the bin, there are 2`,
    ].toSorted(),
  )
  const { sums, repaired, announced } = await check(true)
  expect(repaired).toEqual(sums)
  expect(announced).toEqual(sums.map((line) => `${line}: it is counted again`))
  expect(await check(true)).toEqual({ sums: [], repaired: [], announced: [] })
  expect(await totals(caller)).toEqual({
    storage_used: 23,
    storage_in_bin: 10,
    files_count: 3,
    folders_count: 2,
  })
  await restore(caller, entries)
  await host.runJobs()
  expect(await totals(caller)).toEqual({
    storage_used: 23,
    storage_in_bin: 0,
    files_count: 5,
    folders_count: 4,
  })
  expect(await unsoundTotals(db)).toEqual([])
})

// Nodes would clear and restore at once.
describe.skipIf(onCluster)('a check leaves alone', () => {
  test('accounts in which a folder is being deleted, until that is over', async () => {
    const { caller, id, outer } = await filled()
    await caller.post('/folder/delete', { identifiers: [outer] })
    const clearing = host.database
      .selectFrom('folders')
      .select('id')
      .where('account_id', '=', id)
      .where('deleted_at', 'is not', null)
      .where('cleared_at', 'is', null)
    expect((await clearing.execute()).length).toBe(1)
    expect(await check(true)).toEqual({ sums: [], repaired: [], announced: [] })
    await host.runJobs()
    expect(await check(true)).toEqual({ sums: [], repaired: [], announced: [] })
  })

  test('entries of bins while they are restored', async () => {
    const { entries } = await filled()
    const [, folder = 0 as BinEntryId] = entries
    await host.database.updateTable('bin').set({ restoring: 1, files: 7 }).where('id', '=', folder).execute()
    expect((await check(true)).sums).toEqual([])
    await host.database.updateTable('bin').set({ restoring: 0 }).where('id', '=', folder).execute()
    expect((await check(true)).repaired).toHaveLength(1)
    expect(await check(true)).toEqual({ sums: [], repaired: [], announced: [] })
  })
})
