/** Signed addresses, archives. */
import { type Change, changesIn, one } from '../change.ts'

const tokens = { tests: ['test/unit/downloads/signed-tokens.test.ts'] }
const stored = { tests: ['test/unit/blobs/file-chunks.test.ts'] }
const listener = { tests: ['test/cluster/server/connections/listener.contract.test.ts'] }
const slots = { tests: ['test/server/downloads/zip/zip-plans.test.ts'], named: 'slots for zip plans' }
const arriving = {
  tests: ['test/cluster/downloads/arrivals.test.ts'],
  named: 'in parts they are sent in their order',
}

export const downloads: readonly Change[] = [
  ...changesIn('src/downloads/arrivals.ts', arriving, [
    ['(arrival.size ?? start + received) - 1', '(arrival.size ?? start + received)'],
    ['start <= position && ', ''],
  ]),
  ...changesIn('src/uploads/resumable/arriving-bytes.ts', arriving, [
    ['start += row.size ?? 0', 'start += row.received'],
    [
      'return present === undefined || awaitsPartial(present) ? GONE : arrivalOf(db, id)',
      'return arriving(row, [])',
      { tests: ['test/cluster/downloads/arrivals.test.ts'], named: 'a part that is awaited' },
    ],
  ]),
  ...changesIn('src/blobs/disk-reading.ts', stored, [
    ['this.#chunks++ % 2', '0'],
    ['if (!this.#isReading) this.#close()', 'this.#close()'],
    ['this.#isCancelled || this.#position === this.#end', 'this.#isCancelled'],
    ['if (this.#isClosed) return', ''],
  ]),
  ...changesIn('src/server/connections/direct-answers.ts', listener, [
    ['if (length !== null) assertLength(this.#bytes, length)', ''],
    ['if (first === null && length !== null) assertLength(0, length)', ''],
    ['      stored?.cancel()\n', ''],
  ]),
  ...changesIn('src/downloads/content-tokens.ts', tokens, [
    ['|| found.data.f !== name.toLowerCase()', ''],
    ['clock.now() / 1000 >= found.data.e', 'clock.now() / 1000 > found.data.e'],
    ['Math.floor(clock.now() / 1000) + lifetime', 'Math.floor(clock.now() / 1000) + 2 * lifetime'],
    [
      'export const CONTENT_TOKEN_LIFETIME = 1800',
      'export const CONTENT_TOKEN_LIFETIME = 3600',
      { tests: ['test/cluster/downloads/signed-content.test.ts'] },
    ],
    ['        counted: c,\n', '        counted: !c,\n'],
  ]),
  ...changesIn('src/downloads/content-tokens.ts', tokens, [
    ['h: [...closed],', 'h: [],'],
    ['n: closings,', 'n: null,'],
    ['w: within,', 'w: null,'],
  ]),
  ...changesIn('src/downloads/zip/archive-tokens.ts', tokens, [
    ['clock.now() / 1000 >= e', 'clock.now() / 1000 > e'],
    ['+ ARCHIVE_TOKEN_LIFETIME', '+ 2 * ARCHIVE_TOKEN_LIFETIME'],
  ]),
  ...changesIn('src/downloads/send.ts', { tests: ['test/unit/downloads/disposition.test.ts'] }, [
    ["ascii === name && !name.includes('%')", 'ascii === name'],
    ["/['()*]/g", "/['()]/g"],
    ['name.toWellFormed()', 'name'],
    ['["\\\\/]/g', '["\\\\]/g'],
    ['x7E]|:/g', 'x7E]/g'],
    ["? '_' : ascii", '? ascii : ascii'],
  ]),
  ...changesIn(
    'src/downloads/zip/archive-plan.ts',
    { tests: ['test/unit/downloads/zip/zip-names.test.ts'] },
    [
      ["plain === '' ? '_' : shortName(plain)", 'shortName(plain)'],
      ['if (taken.has(key)) continue', ''],
      ['taken.set(key, 2)', ''],
      ['|[. ]+$/g', '/g'],
      [".replace(DEVICE, '$&_')", ''],
    ],
  ),
  ...changesIn('src/downloads/zip/archive-slots.ts', slots, [
    ['if (isPlanning) this.#planning--', 'this.#planning--'],
    ['this.#planning >= this.#limits.planning) return null', 'false) return null'],
    ['Math.max(1, entries)', 'entries'],
  ]),
  ...changesIn(
    'src/downloads/send.ts',
    one('test/cluster/downloads/use-counting.test.ts', 'at its signed address, whatever a program'),
    [['const counts = start === 0 && !isProbe({ end, whole: file.size })', 'const counts = start === 0']],
  ),
  ...changesIn('src/domain/safe-types.ts', one('test/cluster/downloads/content.test.ts', 'makes drawing'), [
    ["  'image/tiff',", "  'image/svg+xml',\n  'image/tiff',"],
  ]),
  ...changesIn(
    'src/downloads/content.routes.ts',
    one('test/cluster/downloads/use-counting.test.ts', 'on its page, which has counted it'),
    [['isOwner || counted ? null', 'isOwner ? null']],
  ),
  ...changesIn(
    'src/downloads/zip/archives.ts',
    one('test/server/downloads/zip/zip-selection.test.ts', 'may have folders in it, each with everything'),
    [['      if (above.some((step) => chosen.has(step.id))) continue\n', '']],
  ),
]
