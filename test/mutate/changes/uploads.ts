/** Reservations, forms, resumable uploads and requests that are sent again. */
import { type Change, changesIn, one } from '../change.ts'

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
  ...changesIn(
    'src/uploads/receive.ts',
    one('test/cluster/uploads/put-uploads.test.ts', 'refuses a form and a part of a file instead'),
    [['assertWhole(request)\n  if (!declares', 'if (!declares']],
  ),
  ...changesIn(
    'src/uploads/receive.ts',
    one('test/faults/slow-clients.test.ts', 'is ended although some bytes come every'),
    [['waited += clock.monotonic() - waitingSince', '']],
  ),
  ...changesIn(
    'src/uploads/form-upload.ts',
    one('test/cluster/uploads/form-parts.test.ts', 'are refused when there are two'),
    [["if (isFound && files === 'one') {", 'if (false) {']],
  ),
  ...changesIn(
    'src/uploads/form-upload.ts',
    one('test/server/server/errors.test.ts', 'is not one for what stands around it in the'),
    [['least: (length) => Math.max(0, length - MOST_BESIDE)', 'least: (length) => length']],
  ),
  ...changesIn(
    'src/uploads/resumable/append.ts',
    one('test/cluster/uploads/resumable/tus-core.test.ts', 'of more than the declared length is 413 also'),
    [
      [
        'if (this.#received === this.#upload.size && !isTooLarge(broken))',
        'if (this.#received === this.#upload.size)',
      ],
    ],
  ),
  ...changesIn(
    'src/uploads/resumable/append.ts',
    one('test/cluster/uploads/resumable/tus-turns.test.ts', 'leaves nothing of bytes that a checksum was'),
    [
      [
        'return this.#sum === null && this.#received > this.#recorded',
        'return this.#received > this.#recorded',
      ],
    ],
  ),
  ...changesIn(
    'src/uploads/resumable/creation.ts',
    one('test/cluster/uploads/resumable/tus-creation.test.ts', 'of an empty file makes it at once'),
    [['state: wanted.size === 0 ?', 'state: wanted.size === null ?']],
  ),
  ...changesIn(
    'src/uploads/resumable/creation.ts',
    one(
      'test/cluster/uploads/resumable/tus-creation.test.ts',
      'of more than the largest size is 413, and of',
    ),
    [['assertFileSize(content.size ?? 0, maxFileSize)\n', '']],
  ),
  ...changesIn(
    'src/uploads/resumable/concatenation.ts',
    one(
      'test/cluster/uploads/resumable/tus-concatenation.test.ts',
      'when a part is unknown, somebody else’s, no',
    ),
    [['if (new Set(parts.map(({ id }) => id)).size < parts.length) {', 'if (parts.length < 0) {']],
  ),
  ...changesIn(
    'src/uploads/resumable/concatenation.ts',
    one(
      'test/cluster/uploads/resumable/tus-concatenation.test.ts',
      'parts that nobody joins expire with their',
    ),
    [
      [
        'Math.max(...parts.map(({ used_at }) => used_at))\n  const behind',
        'Math.min(...parts.map(({ used_at }) => used_at))\n  const behind',
      ],
    ],
  ),
  ...changesIn(
    'src/uploads/guest-admission.ts',
    one('test/faults/database-failures.test.ts', 'leaves a guest all the bytes of the hour when'),
    [['      await this.#release(bytes)\n      throw', '      throw']],
  ),
  ...changesIn(
    'src/uploads/request-uploads.ts',
    one('test/server/uploads/guests.test.ts', 'counts no more bytes than came, also of an'),
    [['const settled = reservation.settle(this.#received)', 'const settled = Promise.resolve()']],
  ),
  ...changesIn(
    'src/uploads/request-uploads.ts',
    one('test/cluster/sharing/links/upload-links.test.ts', 'an Idempotency-Key and an invalid key are'),
    [['if (request.key !== null) throw idempotencyKeyRefused()\n', '']],
  ),
  ...changesIn(
    'src/uploads/idempotency.ts',
    one('test/cluster/uploads/idempotency.test.ts', 'a key used again for another name, folder or'),
    [["if (announced.length !== request.length) throw mismatch('length')\n", '']],
  ),
  ...changesIn(
    'src/uploads/idempotency.ts',
    one('test/cluster/accounts/key-scopes.test.ts', 'is not told by an Idempotency-Key what'),
    [["by.kind === 'key' && isRestricted(caller) ?", "by.kind === 'session' && isRestricted(caller) ?"]],
  ),
  ...changesIn(
    'src/uploads/upload-answers.ts',
    one('test/cluster/sharing/links/upload-links.test.ts', 'a file comes by PUT, form and tus, is the'),
    [['...(upload.link_id === null ? publicNames(site, upload) : {})', '...publicNames(site, upload)']],
  ),
  ...changesIn(
    'src/uploads/contributions.ts',
    one('test/cluster/sharing/links/upload-links.test.ts', 'of number, size, kind and time are checked'),
    [['taken.files + more.files > (maxFiles', 'taken.files + more.files >= (maxFiles']],
  ),
  ...changesIn(
    'src/uploads/contributions.ts',
    one('test/cluster/sharing/links/link-log.test.ts', 'what comes by a link is in its log, that it'),
    [['const kept = this.#keepsAddresses ? address : null', 'const kept = address']],
  ),
  ...changesIn(
    'src/uploads/receipts.ts',
    one('test/cluster/sharing/links/upload-links.test.ts', 'a contributor withdraws only their own, and'),
    [
      [
        'const isOver = found.revoked_at !== null || (found.ends_at !== null && found.ends_at <= clock.now())',
        'const isOver = found.revoked_at !== null',
      ],
    ],
  ),
  ...changesIn(
    'src/uploads/receipts.ts',
    one('test/cluster/uploads/receipts.test.ts', 'made-up ones are refused after a while, and'),
    [['    await rates.take(subject, 1, MOST_MADE_UP, HOUR)\n', '']],
  ),
  ...changesIn(
    'src/uploads/receipts.ts',
    one('test/cluster/sharing/links/guest-links.test.ts', 'it follows its files into an account once all'),
    [['    await giveLinks(trx, id, account)\n', '']],
  ),
]
