/** The database, the store on disk, S3, and what the client retries. */
import { type Change, changesIn, one } from '../change.ts'

const policy = { tests: ['test/unit/client/policy.test.ts'] }
const parts = { tests: ['test/unit/blobs/object-parts.test.ts'] }
const shown = { tests: ['test/unit/blobs/readable-parts.test.ts'] }
const invariants = { tests: ['test/unit/blobs/blob-invariants.test.ts'] }
const syncFailures = { tests: ['test/faults/sync-failures.test.ts'] }
const diskWriter = { tests: ['test/unit/blobs/disk-writer.test.ts'] }
const diskRemoval = { tests: ['test/unit/blobs/disk-removal.test.ts'] }
const openBlobs = { tests: ['test/cluster/blobs/blob-files.contract.test.ts'] }
const resumableDisk = { tests: ['test/cluster/blobs/resumable-disk.contract.test.ts'] }
const directWriting = { tests: ['test/cluster/blobs/direct-writing.contract.test.ts'] }
const scrubbing = { tests: ['test/server/operations/integrity/scrub.test.ts'], named: 'cannot read twice' }
const groupCommit = { tests: ['test/server/database/group-commit.test.ts'] }
const migrations = { tests: ['test/cluster/database/migrations.contract.test.ts'], named: 'SQLite' }

export const stores: readonly Change[] = [
  ...changesIn('src/database/sqlite.ts', groupCommit, [
    ['    this.#committed += 1\n', ''],
    ['    if (this.#isSyncing) return\n', ''],
    ['this.#waiting[0].commits <= commits', 'this.#waiting[0].commits <= commits + 1'],
    ['if (error !== null && error !== undefined) this.#lost(error)', ''],
  ]),
  ...changesIn('src/database/sqlite.ts', groupCommit, [['if (waits) await log?.durable()', '']]),
  ...changesIn('src/server/server.ts', groupCommit, [['if (unsynced !== null) await unsynced', '']]),
  ...changesIn('src/blobs/retries.ts', { tests: ['test/cluster/blobs/retries.contract.test.ts'] }, [
    ['tries >= policy.tries || !isTransient(error)', 'tries >= policy.tries'],
    [
      'pacing.monotonic() - began + delay > policy.giveUpAfter',
      'pacing.monotonic() - began > policy.giveUpAfter',
    ],
    ['2 ** (tries - 1)', '2 ** tries'],
    ['(step * (1 + chance)) / 2', 'step * chance'],
    ['Math.min(LONGEST_DELAY, FIRST_DELAY', 'Math.max(LONGEST_DELAY, FIRST_DELAY'],
  ]),
  ...changesIn('src/contents/reading.ts', scrubbing, [
    [
      "  if (damage === 'unreadable') await assertReadable(blobs, await otherContents(db, now.id, 'key'))\n",
      '',
    ],
  ]),
  ...changesIn('src/contents/reading.ts', scrubbing, [
    ["  return isUnreadable(error) ? 'unreadable' : null\n", '  return null\n'],
  ]),
  ...changesIn('src/blobs/disk-writing.ts', invariants, [
    ['    assertWritten(key, size, this.#position)\n', ''],
    ['synced <= upTo && upTo <= position', 'upTo <= position'],
    ['const upTo = this.#written()', 'const upTo = this.#position', directWriting],
    [
      '    await Promise.all(this.#writing.keys())\n    await this.#syncing\n    this',
      '    this',
      directWriting,
    ],
    ['    await syncDirectory(layout.shard(key))\n', '', resumableDisk],
    [
      'this.#failure ??= diskStoreFailure(error)',
      'if (this.#syncing === null) this.#failure ??= diskStoreFailure(error)',
      resumableDisk,
    ],
  ]),
  ...changesIn('src/blobs/disk.ts', syncFailures, [
    ['file.datasync(), ', ''],
    [', syncDirectory(layout.shard(key))', ''],
    ["for (const sync of syncs) if (sync.status === 'rejected') throw sync.reason\n", ''],
  ]),
  ...changesIn('src/blobs/disk.ts', diskWriter, [
    ['    await this.#file.sync()\n', ''],
    ['    await recorded\n    try {\n      return await', '    try {\n      return await'],
    ['    await removeUnfinished(this.#layout, this.#key)\n', ''],
  ]),
  ...changesIn('src/blobs/disk-files.ts', diskRemoval, [
    ['    await syncDirectory(folder)\n  } catch', '  } catch'],
    ['    unsyncedRemovals.set(folder, failures)\n', ''],
    ['if (layout.dropsUnfinished) await rm', 'if (true) await rm'],
  ]),
  ...changesIn('src/blobs/disk-files.ts', resumableDisk, [
    ['if (stored < size) throw', 'if (stored + 1 < size) throw'],
    ['if (stored === size) return', 'return'],
  ]),
  ...changesIn('src/blobs/disk-reading.ts', openBlobs, [
    ['if (stats.nlink === 0)', 'if (stats.nlink < 0)'],
    ['    this.#files.get(path)?.retire()\n    if', '    if'],
    ['this.#isRetired && this.#readers === 0', 'this.#isRetired'],
    [
      'this.#timer = setTimeout(() => this.retire(), OPEN_FOR)',
      'this.#timer = setTimeout(() => {}, OPEN_FOR)',
    ],
    ['if (this.#files.size === MOST_OPEN)', 'if (this.#files.size < 0)'],
  ]),
  ...changesIn('src/blobs/disk-writing.ts', resumableDisk, [
    ['    if (!this.#isNameDurable) await syncDirectory(this.#layout.resumable)\n', ''],
    ['this.#isNameDurable = kept !== null', 'this.#isNameDurable = true'],
    ['synced === position, () =>', 'true, () =>', invariants],
  ]),
  ...changesIn('src/blobs/s3-uploads.ts', parts, [
    ['this.#sent = before.parts.length', 'this.#sent = 0'],
    ['this.#sent += 1', 'this.#sent += 2'],
    ['number > MOST_PARTS', 'number >= MOST_PARTS'],
    ['number > MOST_PARTS', 'number > MOST_PARTS + 1'],
    ['this.#sending.size >= plan.held', 'this.#sending.size > plan.held'],
    ['+ (before.tail?.filled ?? 0)', ''],
    ['    if (last !== null) this.#send(last)\n', ''],
    ['size tells.\n      if (!isNoSuchUpload(error)) throw error', 'size tells.\n      throw error'],
    ['size === sum,', 'true,', invariants],
    ['before.parts.length + rangesToCopy(before.prefix, planPart).length', 'before.parts.length', shown],
    ['this.#sent = rangesToCopy(this.#prefix, this.#planPart).length', 'this.#sent = 0', shown],
    ['if (last === null) return', 'if (last === null) return this.#putWhole(last)', shown],
    ['if (copy !== undefined) await', 'if (copy === undefined) await', shown],
  ]),
  ...changesIn('src/blobs/s3-resumable.ts', shown, [
    ['start: end - (size ?? 0), end }', 'start: end, end }'],
    ['{ start: begin, end: begin + size }', '{ start: 0, end: size }'],
    ['parts.slice(0, count)', 'parts.slice(0, 0)'],
    ['{ after: parts.length }', '{}'],
  ]),
  ...changesIn('src/blobs/s3-uploads.ts', invariants, [
    ['[at + 1, part]', '[at, part]', parts],
    ['parts.length === count && known === count', 'parts.length === count'],
    ['parts.length === count && known === count', 'known === count'],
    ['sum === bytes, () =>', 'sum <= bytes, () =>'],
    ['sum === bytes, () =>', 'sum >= bytes, () =>'],
  ]),
  ...changesIn('src/blobs/s3-uploads.ts', parts, [
    [
      "String(number), uploadId: upload.id },\n    headers: { 'Content-MD5'",
      "String(number + 1), uploadId: upload.id },\n    headers: { 'Content-MD5'",
    ],
    ['at + 1}</PartNumber>', 'at}</PartNumber>'],
    ['!== last + 1 || etag === null', '=== 0 || etag === null'],
  ]),
  ...changesIn('src/blobs/s3-resumable.ts', parts, [
    ['    await this.#parts.settle()\n', ''],
    ['    this.#tailBefore = this.#tail\n', '    this.#tailBefore = null\n'],
    ['    if (this.#tailBefore !== null) this.#unwanted.push(this.#tailBefore)\n', ''],
    ['      if (this.#kept !== null) await removeUnfinishedParts(this.#client, this.#key)\n', ''],
    ['kept.offset === total, () =>', 'true, () =>', invariants],
  ]),
  ...changesIn('src/blobs/s3-resumable.ts', parts, [
    ['if (print === progress.print) return', 'return'],
    ['left >= 0 && left < size', 'left > 0 && left < size'],
    ['found === offset, () =>', 'true, () =>', invariants],
    ['=== kept) break', '> kept) break'],
  ]),
  ...changesIn('src/client/policy/upload-policy.ts', policy, [
    ['(0.5 + chance / 2)', 'chance'],
    ['2 ** failures', '2 ** (failures + 1)'],
    ['retryAfter !== null || PASSING.includes(status)', 'PASSING.includes(status)'],
    ["if (code === 'REQUEST_TIMEOUT') return true", ''],
    ['if (!isKnownServer) return false', ''],
    ['code === null ? UNREACHED.includes(status) : status === 409', 'UNREACHED.includes(status)'],
    ['status === 413 && code === null', 'status === 413'],
    ['(seconds + chance) * SECOND', 'seconds * SECOND', { tests: ['test/unit/client/retries.test.ts'] }],
  ]),
  ...changesIn('src/client/policy/upload-policy.ts', policy, [
    ['bytes !== size.bytes || milliseconds >= SHORT', 'milliseconds >= SHORT'],
    ['Math.min(size.largest, faster)', 'faster'],
    ['if (smaller >= bytes) return null', 'if (smaller > bytes) return null'],
    ['if (smaller >= size.largest) return size', ''],
    ['bytes: Math.min(size.bytes, smaller), largest: smaller', 'bytes: smaller, largest: size.largest'],
    ['times >= STUCK', 'times > STUCK'],
    ['offset === stuckState.offset ? stuckState.times + 1 : 0', 'stuckState.times + 1'],
  ]),
  ...changesIn('src/client/retries.ts', { tests: ['test/unit/client/retries.test.ts'] }, [
    ['clock.monotonic() - since > patience.within', 'false'],
    ['hasMoved || (isRateLimit(error) && !isStuck)', 'hasMoved'],
    ['hasMoved || (isRateLimit(error) && !isStuck)', 'isRateLimit(error) && !isStuck'],
    ['(isRateLimit(error) && !isStuck)', 'isRateLimit(error)'],
    ['* SECOND > patience.longestWait', '* SECOND > Number.POSITIVE_INFINITY'],
    ['            tries = 0\n', ''],
    ['Math.max(welcomeAt, until)', 'until'],
    ['        await untilWelcome()\n        try', '        try'],
    ['if (until > welcomeAt + SECOND) say', 'say'],
  ]),
  ...changesIn('src/client/map-concurrently.ts', { tests: ['test/unit/client/map-concurrently.test.ts'] }, [
    ['running.size >= width', 'running.size > width'],
    ['if (failures.length > 0) break', ''],
    ['      taken += 1\n', ''],
  ]),
  ...changesIn('src/database/migrate.ts', migrations, [
    ['migrations.slice(version, wanted)', 'migrations'],
    ['migrations.slice(version, wanted)', 'migrations.slice(version + 1, wanted)'],
    [
      'if (version <= migrations.length) return version',
      'if (version <= migrations.length + 1) return version',
    ],
  ]),
  ...changesIn(
    'src/blobs/disk.ts',
    one('test/cluster/blobs/blob-store.contract.test.ts', 'are cleared of unfinished ones by who opens'),
    [['if (alone) await rm(layout.unfinished', 'await rm(layout.unfinished']],
  ),
]
