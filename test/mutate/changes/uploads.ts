/** Reservations, forms, resumable uploads and requests that are sent again. */
import { type Change, changesIn } from '../change.ts'

const multipart = { tests: ['test/uploads/multipart.unit.test.ts'] }
const partHeaders = {
  tests: ['test/uploads/part-headers.unit.test.ts', 'test/uploads/multipart.unit.test.ts'],
}

const commitBatcher = { tests: ['test/uploads/commit-batcher.contract.test.ts'] }
const claims = { tests: ['test/uploads/claims.test.ts'] }
const reservations = { tests: ['test/uploads/reservations.contract.test.ts'] }

export const uploads: readonly Change[] = [
  ...changesIn('src/core/accounts.rows.ts', reservations, [
    ['} <= coalesce', '} < coalesce'],
    ['accounts.storage_used + accounts.storage_reserved', 'accounts.storage_used'],
    ['accounts.storage_used + accounts.storage_reserved', 'accounts.storage_reserved'],
    ['coalesce(accounts.quota, ', 'coalesce(accounts.quota + 100, '],
  ]),
  ...changesIn('src/core/reservations.rows.ts', reservations, [
    ['await takeReserved(trx, row.bytes, row.account_id)', ''],
  ]),
  ...changesIn('src/core/reservations.rows.ts', commitBatcher, [
    ['account\n        and $', 'account\n        or $'],
    [' and folders.account_id = given.account\n', '\n'],
    ['having count(deleted_at) = 0', 'having count(deleted_at) < 9'],
    ['              and folders.parent_id is not null\n', ''],
  ]),
  ...changesIn('src/uploads/stored-files.rows.ts', commitBatcher, [
    ['and not verdict.is_full', ''],
    ['given.size - reservations.bytes`', 'given.size - given.size`'],
    ['sql`and exists (select from held)`', 'sql``'],
    ['and uses.node = note.node', ''],
    ['where reservations.bytes < given.size', 'where reservations.bytes > given.size'],
  ]),
  ...changesIn('src/core/reservations.rows.ts', claims, [['.length > 0', '.length >= 0']]),
  ...changesIn('src/uploads/receipts/receipts.ts', claims, [
    ['    await changeTotals(trx, GUESTS, { storage: -size, files: -1 })\n', ''],
    ['    await changeFiles(trx, from, -1, -size)\n', ''],
    ['    await changeTotals(trx, account, { storage: size, files: 1 })\n', ''],
    ['    await changeFiles(trx, folder, 1, size)\n', ''],
    ['    await giveUploads(trx, identifier.uuid, { account, folder })\n', ''],
    ['present?.account_id === account && (', '('],
  ]),
  ...changesIn('src/sharing/take-downs.ts', { tests: ['test/sharing/take-down-races.unit.test.ts'] }, [
    ['files.filter((file) => file.account_id === account)', 'files'],
    ['if (!isMoved) after = last.id', 'after = last.id'],
  ]),
  ...changesIn('src/uploads/commit.ts', reservations, [
    ['await settle(trx, file)', ''],
    ['await changeTotals(trx, account, { storage: size, files: 1 })', ''],
    ['await changeFiles(trx, folder, 1, size)', ''],
    ['await assertFolderExists(trx, folder)', ''],
    [
      'await assertNotRefused(trx, blob.sha256)',
      '',
      {
        tests: ['test/sharing/take-down.test.ts'],
        named: 'a content that was taken down is refused',
      },
    ],
  ]),
  ...changesIn('src/uploads/free-space.ts', reservations, [
    ['if (left < floor)', 'if (left <= floor)'],
    ['const left = free - promised - bytes', 'const left = free - promised'],
    ["left < this.#minFreeSpace ? 'full'", "left < floor ? 'full'"],
    ['const GUEST_FLOORS = 2', 'const GUEST_FLOORS = 1'],
    ['account === GUESTS ? GUEST_FLOORS : 1', 'GUEST_FLOORS'],
    ['const promised = this.#promised() +', 'const promised ='],
    ['sum += promise.left', 'sum = promise.left'],
    ['    this.#left += bytes', ''],
    [
      '    this.#left = 0\n    this.#onEnd()',
      '    this.#onEnd()',
      { explained: 'a promise that has ended is counted no more' },
    ],
  ]),
  ...changesIn('src/uploads/incoming-content.ts', { tests: ['test/uploads/buffered-content.unit.test.ts'] }, [
    ['    await recorded\n', ''],
    ['    await this.#streamed.write(this.#buffered())\n', ''],
    ['if (this.#mayBeStored) await', 'if (false) await'],
    ['    inUse -= 1\n', ''],
  ]),
  ...changesIn('src/uploads/incoming-content.ts', reservations, [['...this.#taken, ', '']]),
  ...changesIn('src/files/blob-cleaning.job.ts', reservations, [
    ['sizes[at] !== null', 'true'],
    ['for (const key of stored) if (!(await blobExists(trx, key))) left', 'for (const key of stored) left'],
    ['    await recordPooledKeys(trx, [])\n', ''],
  ]),
  ...changesIn(
    'src/uploads/reservations.ts',
    { tests: ['test/uploads/guests.test.ts'], named: 'last byte' },
    [['if (this.#pool !== null) await assertFits(trx, this.#account, 0, limits)', '']],
  ),
  ...changesIn('src/uploads/multipart.ts', multipart, [
    ['passed - this.#taken <= MOST_BESIDE', 'passed - this.#taken < MOST_BESIDE'],
    ['if (this.#isTaking) this.#taken += bytes.byteLength', 'this.#taken += bytes.byteLength'],
    ['#held = 2', '#held = 0'],
    ["if (this.#stage === 'delimiter' && this.#line === 'closing') return this.#close()", ''],
    [
      'Math.max(start, chunk.length - this.#delimiter.length + 1)',
      'Math.max(start, chunk.length - this.#delimiter.length + 2)',
    ],
    ['if (length === MAX_HEADERS) throw', 'if (length === MAX_HEADERS - 1) throw'],
    ['Math.max(0, before - 3)', 'before'],
    ['if (left < 0) throw', 'if (left <= 0) throw'],
    ["if (this.#parts === 0) throw malformed('it has no parts')", ''],
    ['start + end + 4 - before', 'start + end + 3 - before'],
    ['this.#isTaking = sink !== null', 'this.#isTaking = true'],
    ['this.#rest.length > MAX_PADDING', 'this.#rest.length >= MAX_PADDING'],
    ['const MAX_PADDING = 1024', 'const MAX_PADDING = 1025'],
  ]),
  ...changesIn('src/uploads/part-headers.ts', partHeaders, [
    ["value !== 'form-data' || parameters === undefined", 'parameters === undefined'],
    ['name === undefined || parameters.has(name)', 'name === undefined'],
    ["fields.has(key) && key.startsWith('content-')", "fields.has(key) && key.startsWith('x-')"],
    ["!['binary', '8bit', '7bit'].includes(encoding)", 'encoding === null'],
    [
      'if (decoded !== null || plain === undefined) return decoded',
      'if (plain === undefined) return decoded',
    ],
    [".replace(/%0A/gi, '\\n')", ''],
  ]),
  ...changesIn('src/uploads/boundary.ts', { tests: ['test/uploads/boundary.unit.test.ts'] }, [
    ['{0,69}[!-~]', '{0,70}[!-~]'],
    ['{0,69}[!-~]', '{0,69}[ -~]'],
    ["return line === 'hyphen' ? 'closing' : 'content'", "return 'closing'"],
    [
      "if (line === 'closing' && (byte === CR || byte === LF)) return 'closed'",
      "if (line === 'closing' && byte === CR) return 'closed'",
    ],
    ["if (value !== 'multipart/form-data') {", "if (value === '') {"],
  ]),
]
