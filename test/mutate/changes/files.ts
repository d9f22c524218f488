/** Files, folders, expiry, the bin, deletion and who sees what. */
import { type Change, changesIn, one } from '../change.ts'

const boundaries = {
  tests: ['test/cluster/files/expiry-boundaries.contract.test.ts'],
  named: 'SQLite|the bytes of|bytes that',
}
const cleaning = { tests: ['test/faults/cleaning.test.ts'], named: 'purging|two sizes|cannot be removed' }
const arriving = {
  tests: ['test/cluster/uploads/resumable/tus-sessions.test.ts'],
  named: 'into a folder below a deleted one',
}
const moves = {
  tests: ['test/cluster/files/folders/folder-moves.test.ts'],
  named: 'a move of one folder|the depth of folders (is limited|counts)',
}
const totals = {
  tests: ['test/cluster/files/folders/folder-clearing.contract.test.ts'],
  named: 'SQLite a folder that moved',
}
const foreign = {
  tests: ['test/server/server/authorization-matrix.test.ts'],
  named: 'another account with (get|post) /api/v1/(file|folder|bin)',
}
const bound = {
  tests: ['test/cluster/accounts/bound-keys.test.ts', 'test/cluster/files/bin/bound-bin.test.ts'],
}
const bin = { tests: ['test/cluster/files/bin/bin.test.ts'], named: 'comes back' }
const bins = {
  tests: ['test/cluster/files/folders/folder-clearing.contract.test.ts'],
  named: 'SQLite a folder in the bin (that is coming back outlives|goes after)|SQLite a bin of more',
}
const inBin = {
  tests: ['test/cluster/files/folders/folder-clearing.contract.test.ts'],
  named: 'SQLite a folder in the bin (does not expire there|brings what|that is an entry of its own)',
}

export const files: readonly Change[] = [
  ...changesIn('src/files/expiry.ts', boundaries, [
    ['guard.agreedFor() < PURGE_AFTER', 'guard.agreedFor() <= PURGE_AFTER'],
    ['if (guard.agreedFor() < PURGE_AFTER) return', ''],
    ['const PURGE_AFTER = DAY', 'const PURGE_AFTER = DAY / 24'],
    ['const markedBefore = now - PURGE_AFTER', 'const markedBefore = now'],
    ['for (const account of accounts.toSorted((a, b) => a - b)) await lockAccount(trx, account)', ''],
    ['if (lifetime === null) continue', 'if (lifetime === null) break'],
    ['if (holder.latest < cutoff) continue', 'if (holder.latest <= cutoff) continue'],
    ['const LATEST_MARK = HOUR', 'const LATEST_MARK = -400 * DAY'],
    ['file.last_used_at < endsBefore', 'file.last_used_at <= endsBefore'],
    [
      'await usage.flush()',
      '',
      { tests: ['test/cluster/files/expiry-boundaries.contract.test.ts'], named: 'SQLite' },
    ],
    [
      'const PURGE_AT_LEAST = 1000',
      'const PURGE_AT_LEAST = 1001',
      { tests: ['test/cluster/files/expiry.test.ts'], named: 'takes at most 1,000 files' },
    ],
    [
      'const alive = await markAlive(trx, ',
      'const alive = await (async (_: Trx, files: readonly RemovableFile[]) => files)(trx, ',
    ],
  ]),
  ...changesIn('src/files/expiry.ts', boundaries, [
    [
      ".where('removed_at', 'is', null)\n    .where('last_used_at', '<', cutoff)",
      ".where('removed_at', 'is', null)\n    .where('last_used_at', '<=', cutoff)",
    ],
    [".where('last_used_at', '>=', cutoff)", ".where('last_used_at', '>', cutoff)"],
    [".where('files.removed_at', '<=', markedBefore)", ".where('files.removed_at', '<', markedBefore)"],
    [
      ".where('removal', '=', sql.lit('expired'))\n    .where('last_used_at', '>=', cutoff)",
      ".where('last_used_at', '>=', cutoff)",
    ],
    [".where('removed_at', 'is', null)\n    .where('last_used_at'", ".where('last_used_at'"],
    ["    .where('files.removal', '=', 'expired')\n", ''],
    ['  await lookAgain(trx, new Set(alive.map((file) => file.account_id)))\n', ''],
    [
      'const expired = files.filter((file) => !binned.has(file.folder_id))',
      'const expired = files',
      { ...inBin, explained: 'the mark of the bin replaces that of expiry, and totals leave the bin out' },
    ],
    ["if (along.length > 0) await setRemoved(trx, along, 'folder binned', at)", '', inBin],
    ['for (const [folder, entry] of binned) await markAlong(trx, folder, entry, at)', '', inBin],
    ['const alive = files.filter((file) => !binned.has(file.folder_id))', 'const alive = files', inBin],
    ['deleted.at(-1)?.bin_id', 'deleted.at(0)?.bin_id', inBin],
    ["where('folders.bin_id', 'is not', null)", "where('folders.id', 'is', null)", inBin],
    [
      'await adjustTotals(trx, alive, 1)',
      '',
      { tests: ['test/cluster/files/expiry-boundaries.contract.test.ts'], named: 'SQLite' },
    ],
  ]),
  ...changesIn('src/files/removals.ts', boundaries, [
    [".where('removal', '=', 'deleted')\n    .limit", '.limit'],
    ["where('id', '=', id)\n    .where('removed_at', 'is not', null)", "where('id', '=', id)", cleaning],
    [
      'await adjustTotals(trx, files, -1)',
      '',
      { tests: ['test/cluster/files/expiry.test.ts'], named: 'is out of every list' },
    ],
    [
      'folder.bytes += sign * size',
      'folder.bytes += size',
      { tests: ['test/cluster/files/expiry.test.ts'], named: 'is out of every list' },
    ],
    [
      'if (await isGone(trx, folder)) continue',
      '',
      { tests: ['test/cluster/files/expiry.test.ts'], named: 'brings nothing back' },
    ],
  ]),
  ...changesIn('src/core/blobs.rows.ts', boundaries, [
    ['const GARBAGE_GRACE = MINUTE', 'const GARBAGE_GRACE = MINUTE / 2'],
  ]),
  ...changesIn('src/files/blob-cleaning.job.ts', boundaries, [
    ['const dueAt = clock.now() + GARBAGE_GRACE', 'const dueAt = clock.now()'],
    ['await forgetGarbage(db, removed)', ''],
    ['await postponeGarbage(db, stuck, clock.now() + TRY_AGAIN)', ''],
    [
      'keys.filter((key) => !removed.includes(key))',
      'keys',
      {
        ...cleaning,
        explained: 'what was removed is forgotten by then, so there is nothing left to postpone',
      },
    ],
    ['while (mayGoOn() && (await removing.isAllowed())) {', 'while (mayGoOn()) {'],
    [
      'const blob = await dropFile(trx, file)\n        if (blob !== null) await releaseBlob',
      'const blob = await dropFile(trx, file)\n        if (blob === null) await releaseBlob',
      cleaning,
    ],
    ['clock.now() + GARBAGE_GRACE)\n        if (dead.length', 'clock.now())\n        if (dead.length'],
    ['|| (await blobExists(trx, key))) return false', ') return false'],
    ['!(await endReservations(trx, key)) || ', ''],
    ['const TRY_AGAIN = MINUTE', 'const TRY_AGAIN = MINUTE / 2'],
    ['if (await endDead(upload, clock.now())) left.push', 'left.push'],
    [
      'await forgetGarbage(db, await blobs.removeAll(garbage, report))',
      'await blobs.removeAll(garbage, report)',
    ],
    ['if (await removing.isAllowed()) await forgetGarbage', 'await forgetGarbage'],
    [
      'await lockAccount(trx, account_id)',
      '',
      {
        explained:
          'it keeps the order of locks: without it an upload that ends just now may deadlock, and is retried',
      },
    ],
  ]),
  ...changesIn('src/core/blobs.rows.ts', boundaries, [
    [".where('due_at', '<=', now)", ".where('due_at', '<', now)"],
    [".where('due_at', '<=', now)", ''],
    ['if (row.refs > 0) return', 'if (row.refs > 1) return', cleaning],
    ['if (row.refs > 0) return', '', cleaning],
    ["refs: row('refs', '+', 1)", "refs: row('refs', '+', 0)", cleaning],
    ['await discardBlob(trx, known.key, garbageDueAt)', '', cleaning],
    ['sha256 === blob.sha256 && size === blob.size', 'sha256 === blob.sha256', cleaning],
    ["set({ due_at: dueAt }).where('key', 'in', keys)", 'set({ due_at: dueAt })', cleaning],
  ]),
  ...changesIn('src/files/folders/folders.ts', moves, [
    ['way.some((step) => step.id === folder.id)', 'destination === folder.id'],
    ['if (folder.parent_id === destination) return 0', ''],
    ['const levelsLeft = maxDepth - way.length', 'const levelsLeft = maxDepth - way.length + 1'],
    ['const levelsLeft = maxDepth - way.length', 'const levelsLeft = maxDepth - way.length - 1'],
    ['folder.tree_height + 1 > levelsLeft &&', 'folder.tree_height > levelsLeft &&'],
    ['&& (await isDeeperThan(trx, folder.id, levelsLeft, entry))', ''],
    ['folders: folder.tree_folders + 1', 'folders: folder.tree_folders'],
    ['await changeTree(trx, folder.parent_id, takenAway(moved))', '', totals],
    ['await changeTree(trx, destination, moved)', '', totals],
    [
      'height: folder.tree_height + 1',
      'height: folder.tree_height',
      { ...moves, named: 'the depth of folders' },
    ],
  ]),
  ...changesIn('src/files/folders/folders.rows.ts', moves, [
    ['if (level > levels) return true', 'if (level >= levels) return true'],
    ["folder('deleted_at', 'is', null),", '', moves],
    [
      'order by chain.height desc`',
      'order by chain.height`',
      { tests: ['test/cluster/sharing/folder-password.test.ts'], named: 'nested locks' },
    ],
    [
      'row === undefined || (await isGone(db, row.id))',
      'row === undefined',
      { tests: ['test/cluster/files/deletes.test.ts'], named: 'deletes the folders' },
    ],
  ]),
  ...changesIn(
    'src/files/folders/folders.ts',
    { tests: ['test/server/downloads/signed-matrix.test.ts'], named: 'signed while it is open|a signed zip' },
    [
      [
        "(change.is_public === 0 && before.is_public === 1) || typeof change.password_hash === 'string'",
        "typeof change.password_hash === 'string'",
      ],
      ['(change.is_public === 0 && before.is_public === 1) ||', 'change.is_public === 0 ||'],
      ["|| typeof change.password_hash === 'string'", ''],
      ['folder.is_public === 0 || folder.password_hash !== null', 'folder.password_hash !== null'],
    ],
  ),
  ...changesIn('src/files/folders/places.ts', bound, [
    ['folder === undefined || folder.account_id !== reach.account', 'folder === undefined', foreign],
    ['identifier !== reach.within && !(await isWithin(db, reach, folder.id))', 'false'],
    ['&& chain.every((step) => step.deleted_at === null)', ''],
    ['chain.some((step) => step.identifier === within) &&', ''],
    ['return top !== -1 && chain', 'return chain'],
    ['chain.slice(0, top + 1)', 'chain.slice(0, top)'],
    ["place === 'root' ? within : place", "place === 'root' ? null : place"],
    ['within !== null && !chain.some((step) => step.identifier === within)', 'false'],
    ['folder.identifier === reach.within ? { ...folder, parent_identifier: null } : folder', 'folder'],
  ]),
  ...changesIn('src/files/files.ts', foreign, [
    ['file === undefined || file.account_id !== reach.account', 'file === undefined'],
    [
      'if (!(await isWithin(db, reach, file.folder_id))) throw fileNotFound()',
      '',
      { tests: ['test/cluster/files/bin/bound-bin.test.ts'], named: 'lets nothing outside' },
    ],
  ]),
  ...changesIn('src/files/bin/bin.ts', bins, [
    ['await changeFiles(trx, file.folder_id, -1, -file.size)', ''],
    ['await changeTotals(trx, account, { files: -1 })', ''],
    ['const folders = folder.tree_folders + 1', 'const folders = folder.tree_folders'],
    ['await changeTree(trx, folder.parent_id, takenAway({ files, bytes, folders }))', ''],
    [
      'if (identifier === reach.within) {',
      'if (identifier === null) {',
      { tests: ['test/cluster/files/bin/bound-bin.test.ts'] },
    ],
  ]),
  ...changesIn('src/files/bin/bin-restoring.ts', bin, [
    ['isPublic: !keepsOut(way)', 'isPublic: true'],
    ['if (keepsOut(way)) {', 'if (false) {'],
    ['step.is_public === 0 || step.password_hash !== null', 'step.password_hash !== null'],
    ['step.is_public === 0 || step.password_hash !== null', 'step.is_public === 0'],
    ['if (await isTooDeep(trx, folder, ancestors, maxDepth, entry.id)) throw tooDeep(maxDepth)', ''],
  ]),
  ...changesIn('src/files/folders/folders.rows.ts', bin, [['if (!(await isTaken(1))) return name', '']]),
  ...changesIn('src/files/bin/bin-emptying.ts', bins, [
    ['await countBin(trx, account, -entry.bytes, -1)', ''],
    ['await changeTotals(trx, account, { storage: -entry.bytes })', ''],
    ['if (entry.restoring === 1) throw entryNotFound()', ''],
    ['if (guard.agreedFor() < SURE_AFTER) return', ''],
    ['guard.agreedFor() < SURE_AFTER', 'guard.agreedFor() <= SURE_AFTER'],
    ['const SURE_AFTER = DAY', 'const SURE_AFTER = DAY - 1'],
    [
      'if (within !== null) {',
      'if (account === null) {',
      { tests: ['test/cluster/files/bin/bound-bin.test.ts'] },
    ],
    ['if (entries.length < STEP) await setEmptied', 'await setEmptied'],
  ]),
  ...changesIn('src/files/bin/bin-emptying.ts', bins, [
    [".where('bin.restoring', '=', 0)\n    .whereRef", '.whereRef'],
    [".whereRef('bin.id', '<=', 'accounts.bin_emptied')", ''],
    [".whereRef('bin.id', '<=', 'accounts.bin_emptied')", ".whereRef('bin.id', '<', 'accounts.bin_emptied')"],
    ["account('storage_used', '-', bytes)", "account('storage_used', '-', 0)"],
    ['        bin_bytes: 0,\n', ''],
    ['        bin_entries: 0,\n', ''],
    [".where('bin.binned_at', '<=', before)", ".where('bin.binned_at', '<', before)"],
    [
      ".where('bin.restoring', '=', sql.lit(0))\n    .where('bin.binned_at'",
      ".where('bin.binned_at'",
      { explained: 'an entry that is coming back is refused when its turn comes' },
    ],
    ['.set({ bin_id: null, cleared_at: null })', '.set({ bin_id: null })'],
  ]),
  ...changesIn('src/files/bin/bin.rows.ts', bins, [
    ["        entry('bin.restoring', '=', 1),\n", ''],
    ["entry('bin.id', '>', entry.ref('accounts.bin_emptied'))", "entry('bin.id', '>', 0)"],
  ]),
  ...changesIn('src/files/bin/bin.ts', { tests: ['test/cluster/files/bin/bound-bin.test.ts'] }, [
    ['if (reach.within === null) return entry', 'return entry'],
  ]),
  ...changesIn('src/sharing/folder-passwords.ts', { tests: ['test/unit/sharing/folder-passwords.test.ts'] }, [
    ['grant.e > clock.now()', 'grant.e >= clock.now()'],
    ['found.data.e > clock.now()', 'found.data.e >= clock.now()'],
    ['isFor(lock, found.data) &&', ''],
    ['const TRIES_PER_ADDRESS = 10', 'const TRIES_PER_ADDRESS = 11'],
    ['const TRIES_PER_LOCK = 60', 'const TRIES_PER_LOCK = 61'],
    ['? { l: lock.link }', '? { f: lock.link, l: lock.link }'],
    ['.slice(-MOST_GRANTS)', ''],
    ['.filter((grant) => !isFor(lock, grant))', ''],
    ['length: 15 * MINUTE', 'length: 16 * MINUTE'],
  ]),
  ...changesIn(
    'src/sharing/access.ts',
    {
      tests: ['test/server/downloads/signed-matrix.test.ts'],
      named: 'signed while it is (open|private)|a signed zip',
    },
    [
      ['holder === account ? requester : { ...requester, signed: null }', 'requester'],
      [
        "by.kind === 'key' && by.key === credential.key",
        'true',
        { tests: ['test/cluster/downloads/signed-content.test.ts'], named: 'outlives nothing' },
      ],
      [
        'if (within === null || viewer.account === null) return chain',
        'return chain',
        { tests: ['test/cluster/accounts/bound-keys.test.ts'], named: 'by its public address' },
      ],
      ['if (chain.some((step) => step.deleted_at !== null)) throw missing()', '', arriving],
      ['chain.some((step) => step.deleted_at !== null)', 'chain.at(-1)?.deleted_at', arriving],
    ],
  ),
  ...changesIn(
    'src/files/files.ts',
    one('test/cluster/files/files.test.ts', 'lets the search find the new name and not the'),
    [['.set({ name, name_folded, name_sort })', '.set({ name })']],
  ),
  ...changesIn(
    'src/files/files.ts',
    one('test/cluster/uploads/claims.test.ts', 'a claimed file is the account’s: its link'),
    [
      [
        "account_id: account, folder_id: folder, last_used_at: greatest(trx, 'last_used_at', now) }",
        'account_id: account, folder_id: folder }',
      ],
    ],
  ),
  ...changesIn(
    'src/files/file-lists.rows.ts',
    one('test/cluster/files/folders/folder-listing.test.ts', 'come all at once in pieces, also 20,000 of'),
    [["'<', row.tuple(before.created_at, before.id)", "'<=', row.tuple(before.created_at, before.id)"]],
  ),
  ...changesIn(
    'src/files/use-counters.ts',
    one('test/faults/database-failures.test.ts', 'gets the counters and last uses of a failed'),
    [['views: use.views + (later?.views ?? 0)', 'views: later?.views ?? use.views']],
  ),
  ...changesIn(
    'src/files/use-counters.ts',
    one('test/cluster/accounts/account.test.ts', 'are told day by day in UTC, and the last one'),
    [['const first = count - 1', 'const first = count']],
  ),
  ...changesIn(
    'src/files/batches.ts',
    one('test/cluster/files/folders/folder-clearing.contract.test.ts', 'lets nobody at what was in it'),
    [['  if (chain.some((step) => step.deleted_at !== null)) return false\n', '']],
  ),
  ...changesIn(
    'src/files/folders/places.ts',
    one('test/cluster/accounts/widening.test.ts', 'moves below what a link has opened once it is'),
    [["link('links.ends_at', '>', now)", "link('links.ends_at', '<', now)"]],
  ),
  ...changesIn(
    'src/files/folders/places.ts',
    one('test/cluster/accounts/widening.test.ts', 'lets nobody see more by patch'),
    [
      [
        'isPublic: chain.every((step) => step.is_public === 1)',
        'isPublic: chain.some((step) => step.is_public === 1)',
      ],
    ],
  ),
  ...changesIn(
    'src/files/bin/bin-restoring.ts',
    one(
      'test/cluster/files/folders/folder-clearing.contract.test.ts',
      'does not expire there, and lives on when it',
    ),
    [["removal: null, last_used_at: greatest(trx, 'last_used_at', at) }", 'removal: null }']],
  ),
  ...changesIn(
    'src/files/folders/folders.ts',
    one('test/cluster/files/folders/folder-moves.test.ts', 'is limited on creation'),
    [
      [
        'await assertRoomBelow(trx, parent_id, 1, maxDepth)',
        'await assertRoomBelow(trx, parent_id, 0, maxDepth)',
      ],
    ],
  ),
  ...changesIn(
    'src/files/folders/folders.ts',
    one('test/cluster/files/folders/folder-thumbnail.test.ts', 'takes the place of the one before, whose'),
    [["        await trx.deleteFrom('folder_covers').where('folder_id', '=', id).execute()\n", '']],
  ),
]
