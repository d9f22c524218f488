/** What is read of a request: ranges, conditions, addresses. */
import { type Change, changesIn, one } from '../change.ts'

export const server: readonly Change[] = [
  ...changesIn('src/server/answers/part-to-send.ts', { tests: ['test/unit/server/answers/ranges.test.ts'] }, [
    ['if (first >= size)', 'if (first > size)'],
    ['if (last < first)', 'if (last <= first)'],
    ['Math.min(last + 1, size)', 'Math.min(last, size)'],
    ['Math.min(last + 1, size)', 'last + 1'],
    ['if (length === 0) return UNSATISFIABLE', ''],
    ['Math.max(0, size - length)', 'size - length'],
    ['size === 0 ? WHOLE : ', ''],
    ['|| another !== undefined', ''],
  ]),
  ...changesIn(
    'src/server/answers/part-to-send.ts',
    { tests: ['test/unit/server/answers/conditions.test.ts'] },
    [
      [
        "headers.get('If-Unmodified-Since'), validators) === true",
        "headers.get('If-Unmodified-Since'), validators) !== false",
      ],
      [
        "headers.get('If-Modified-Since'), validators) === false",
        "headers.get('If-Modified-Since'), validators) !== true",
      ],
      ['inSeconds(lastModified) > seconds', 'inSeconds(lastModified) >= seconds'],
      ["a === b && !a.startsWith('W/')", 'a === b'],
      ['opaque(a) === opaque(b)', 'a === b'],
      [
        'parseHttpDate(ifRange) === inSeconds(lastModified)',
        '(parseHttpDate(ifRange) ?? 0) >= inSeconds(lastModified)',
      ],
      ['Math.floor(milliseconds / 1000)', 'milliseconds / 1000'],
      ["if (list.trim() === '*') return true", ''],
    ],
  ),
  ...changesIn('src/server/call.ts', { tests: ['test/unit/server/requests/client-address.test.ts'] }, [
    [".split(',').reverse()", ".split(',')"],
    ['if (!trusted.has(address)) break', ''],
    ['if (next === null) break', 'if (next === null) continue'],
    ['.slice(0, 4)', '.slice(0, 3)'],
    ['(mapped ? 96 : 0)', '0'],
    ["=== 'ipv4' ? 32 : 128", "=== 'ipv4' ? 128 : 128"],
    ['trusted.has(normalise(address) ?? address) ? null : ', ''],
  ]),
  ...changesIn(
    'src/server/requests/browser.ts',
    one('test/cluster/accounts/sign-in/sign-in.test.ts', 'is refused on every route that changes'),
    [["const isHidden = origin === 'null' && site !== null", "const isHidden = origin === 'null'"]],
  ),
  ...changesIn(
    'src/server/requests/browser.ts',
    one('test/cluster/accounts/sign-in/sign-in.test.ts', 'does not become this one by a Host header'),
    [['return site.config.publicUrl === null && from.host === url.host', 'return from.host === url.host']],
  ),
  ...changesIn(
    'src/server/router.ts',
    one('test/server/server/requests/hosts.test.ts', 'bytes are served there and nowhere else'),
    [['      if (!isServedAt(context, entry)) return errorResponse(nothing())\n', '']],
  ),
  ...changesIn(
    'src/server/server.ts',
    one('test/server/pages/assets.test.ts', 'may be kept for ever, and comes as small as'),
    [["if (isOpen && !headers.has('Cache-Control'))", 'if (isOpen)']],
  ),
  ...changesIn(
    'src/server/server.ts',
    one('test/faults/shutdown.test.ts', 'a stopping server serves lists, pages and'),
    [['underWay.finished(config.shutdownGrace * SECOND)', 'underWay.finished(config.shutdownGrace)']],
  ),
  ...changesIn(
    'src/server/requests/body.ts',
    one('test/server/server/errors.test.ts', 'of more than that is refused without a length'),
    [['      if (length > most) throw tooLarge()\n', '']],
  ),
]
