/** Reservations, forms, resumable uploads and requests that are sent again. */
import { type Change, changesIn } from '../change.ts'

const multipart = { tests: ['test/unit/uploads/multipart.test.ts'] }
const partHeaders = {
  tests: ['test/unit/uploads/part-headers.test.ts', 'test/unit/uploads/multipart.test.ts'],
}

const sharedCommits = { tests: ['test/cluster/uploads/shared-commits.contract.test.ts'] }
const claims = { tests: ['test/cluster/uploads/claims.test.ts'] }
const reservations = { tests: ['test/cluster/uploads/reservations.contract.test.ts'] }

export const uploads: readonly Change[] = [
  ...changesIn('src/core/accounts.rows.ts', reservations, [
    ['} <= coalesce', '} < coalesce'],
    ['accounts.storage_used + accounts.storage_reserved', 'accounts.storage_used'],
    ['accounts.storage_used + accounts.storage_reserved', 'accounts.storage_reserved'],
    ['coalesce(accounts.quota, ', 'coalesce(accounts.quota + 100, '],
  ]),
  ...changesIn('src/core/reservations.rows.ts', reservations, [
    ['if (first !== undefined && bytes > 0) await takeReserved(trx, bytes, first.account_id)', ''],
  ]),
  ...changesIn('src/core/reservations.rows.ts', sharedCommits, [
    ['if (bytes === 0) return insert(db, needed)', 'if (bytes === 0) return insert(db, 0)'],
    ['return ended.length === keys.length', 'return true'],
  ]),
  ...changesIn('src/uploads/commit.ts', sharedCommits, [
    ['if (!isReserved) throw uploadInterrupted()', ''],
    ['assertFits(trx, account, 0, this.#limits)', 'Promise.resolve()'],
    ['all.every(({ reserved }) => reserved.isCounted)', 'all.some(({ reserved }) => reserved.isCounted)'],
  ]),
  ...changesIn('src/uploads/idempotency.ts', sharedCommits, [
    ["    .where('node', '=', node)\n    .executeTakeFirst()", '    .executeTakeFirst()'],
  ]),
  ...changesIn('src/core/reservations.rows.ts', claims, [['.length > 0', '.length >= 0']]),
  ...changesIn('src/uploads/receipts.ts', claims, [
    ['    await changeTotals(trx, GUESTS, { storage: -size, files: -1 })\n', ''],
    ['    await changeFiles(trx, from, -1, -size)\n', ''],
    ['    await changeTotals(trx, account, { storage: size, files: 1 })\n', ''],
    ['    await changeFiles(trx, folder, 1, size)\n', ''],
    ['    await giveUploads(trx, identifier.uuid, { account, folder })\n', ''],
    ['present?.account_id === account && (', '('],
  ]),
  ...changesIn('src/sharing/take-downs.ts', { tests: ['test/unit/sharing/take-down-races.test.ts'] }, [
    ['files.filter((file) => file.account_id === account)', 'files'],
    ['if (!isMoved) after = last.id', 'after = last.id'],
  ]),
  ...changesIn('src/uploads/commit.ts', reservations, [
    ['      endReservations(trx, ...reservations),', '      Promise.resolve(true),'],
    ['      changeTotals(trx, account, { storage: bytesOf(all), files: all.length }),\n', ''],
    ['      ...folders.map(([folder, some]) => changeFiles(trx, folder, some.length, bytesOf(some))),\n', ''],
    ['livingChain(trx, folder)', 'Promise.resolve([])'],
    [
      'assertNotRefused(trx, ...contents)',
      'Promise.resolve()',
      {
        tests: ['test/cluster/sharing/take-down.test.ts'],
        named: 'a content that was taken down is refused',
      },
    ],
  ]),
  ...changesIn('src/uploads/reservations.ts', reservations, [
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
  ...changesIn('src/uploads/incoming-content.ts', { tests: ['test/unit/uploads/buffered-content.test.ts'] }, [
    ['    await recorded\n', ''],
    ['    await this.#streamed.write(this.#buffered())\n', ''],
    ['if (this.#mayBeStored) await', 'if (false) await'],
    ['    inUse -= 1\n', ''],
  ]),
  ...changesIn('src/uploads/reservations.ts', reservations, [['...this.#taken, ', '']]),
  ...changesIn('src/files/blob-cleaning.job.ts', reservations, [
    ['sizes[at] !== null', 'true'],
    ['for (const key of stored) if (!(await blobExists(trx, key))) left', 'for (const key of stored) left'],
    ['    await recordPooledKeys(trx, [])\n', ''],
  ]),
  ...changesIn(
    'src/uploads/reservations.ts',
    { tests: ['test/server/uploads/guests.test.ts'], named: 'last byte' },
    [['isCounted: !this.#isSmall', 'isCounted: true']],
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
  ...changesIn('src/uploads/boundary.ts', { tests: ['test/unit/uploads/boundary.test.ts'] }, [
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
