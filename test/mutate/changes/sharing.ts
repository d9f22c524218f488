/** Links, reports and take-downs. */
import { type Change, changesIn, one } from '../change.ts'

export const sharing: readonly Change[] = [
  ...changesIn(
    'src/sharing/access.ts',
    one('test/cluster/sharing/ways-up.test.ts', 'names to a stranger what is above only from'),
    [
      [
        'return highest === -1 ? [] : chain.slice(highest)',
        'return highest === -1 ? chain : chain.slice(highest)',
      ],
    ],
  ),
  ...changesIn(
    'src/sharing/access.ts',
    one('test/cluster/sharing/links/link-secrets.test.ts', 'opens nothing after its end, and nothing by'),
    [
      [
        'return target === -1 ? [] : chain.slice(target)',
        'return target === -1 ? chain : chain.slice(target)',
      ],
    ],
  ),
  ...changesIn(
    'src/sharing/links/link-access.ts',
    one('test/server/sharing/links/link-access.test.ts', 'a signed address ends with the password that'),
    [['      if (tag !== null && tag !== passwordTag) throw passwordRequired()\n', '']],
  ),
  ...changesIn(
    'src/sharing/links/link-slots.ts',
    one('test/cluster/sharing/links/link-claims.test.ts', 'downloads are counted without a limit too, by'),
    [['if (unsent * 2 > whole) of(link).count -= 1', 'if (unsent > whole) of(link).count -= 1']],
  ),
  ...changesIn(
    'src/sharing/links/link-slots.ts',
    one('test/cluster/sharing/links/link-claims.test.ts', 'is gone on with by a program without cookies'),
    [
      [
        'own !== undefined && how !== null && isHolding(own, now)',
        'own !== undefined && isHolding(own, now)',
      ],
    ],
  ),
  ...changesIn(
    'src/sharing/links/links.ts',
    one('test/cluster/sharing/links/upload-links.test.ts', 'a revoked link stops what is under way, at'),
    [['      if (into !== null) await abandonUploadsOfLink(db, id, now)\n', '']],
  ),
  ...changesIn(
    'src/sharing/links/links.ts',
    one('test/cluster/sharing/links/upload-links.test.ts', 'an upload link has one folder, is not for'),
    [["    assertScope(caller, 'upload')\n", '']],
  ),
  ...changesIn(
    'src/sharing/links/links.ts',
    one('test/cluster/sharing/links/link-log.test.ts', 'an end is told a day before and when it has'),
    [['columnsOf(terms, clock.now(), link.ends_at)', 'columnsOf(terms, clock.now())']],
  ),
  ...changesIn(
    'src/sharing/links/link-notifications.job.ts',
    one('test/cluster/sharing/links/link-news.test.ts', 'what came together is in one mail, in the'),
    [['toldBefore: now - HOUR', 'toldBefore: now']],
  ),
  ...changesIn(
    'src/sharing/reports.ts',
    one('test/cluster/sharing/take-down.test.ts', 'a report that is dismissed is closed, once'),
    [[".where('id', '=', id)\n    .where('closed_at', 'is', null)", ".where('id', '=', id)"]],
  ),
  ...changesIn(
    'src/sharing/reports.ts',
    one('test/cluster/sharing/reports.test.ts', 'tells repeats apart until the day is over'),
    [
      [
        '() => forgetReporters(db, reportingDay(now), STEP)',
        '() => forgetReporters(db, now - CLOSED_KEPT_FOR, STEP)',
      ],
    ],
  ),
  ...changesIn(
    'src/sharing/take-downs.ts',
    one('test/cluster/sharing/take-down.test.ts', 'frees the room of a file once where its bin'),
    [['  if (!isCounted) return\n', '']],
  ),
]
