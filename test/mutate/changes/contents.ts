/** Checks, copies, mirrors and backups. */
import { type Change, changesIn, one } from '../change.ts'

export const contents: readonly Change[] = [
  ...changesIn(
    'src/contents/check.ts',
    one('test/server/operations/integrity/marks.test.ts', 'removes what belongs to no file once it is'),
    [
      ['    if (isBehind(await generationsOf(db, blobs))) throw behind()\n', ''],
      ['const before = clock.now() - REMOVED_AFTER', 'const before = clock.now()'],
    ],
  ),
  ...changesIn(
    'src/contents/check.ts',
    one('test/server/operations/integrity/marks.test.ts', 'keeps changed bytes from being sent, and goes'),
    [['({ damage }) => damage !== null || isChosen(', '() => isChosen(']],
  ),
  ...changesIn(
    'src/contents/copy-threads.ts',
    one(
      'test/cluster/operations/relocation/copy-blobs.contract.test.ts',
      'once more brings only what is not there whole',
    ),
    [
      [
        '    // An incomplete blob of an earlier attempt would prevent the write.\n    await to.remove(blob.key)\n',
        '',
      ],
    ],
  ),
  ...changesIn(
    'src/contents/copying.ts',
    one(
      'test/cluster/operations/relocation/copy-blobs.contract.test.ts',
      'counts nothing as copied that could not be',
    ),
    [['    if (keys.length > 0) await job.settle?.()\n', '']],
  ),
  ...changesIn(
    'src/contents/mirror-sync.ts',
    one('test/server/operations/mirror/mirror-folder.test.ts', 'a mirror that is taken over while contents'),
    [['    await mirror.assertOwn()\n    const noted', '    const noted']],
  ),
  ...changesIn(
    'src/contents/mirror-sync.ts',
    one('test/server/operations/mirror/mirror-folder.test.ts', 'a disk of the mirror that is full gets'),
    [['free - bytes >= minFree', 'free >= minFree']],
  ),
  ...changesIn(
    'src/contents/backup-points.ts',
    one('test/unit/operations/backup/retention.test.ts', 'are the newest of each day and of each week'),
    [['spans.size >= most', 'spans.size > most']],
  ),
  ...changesIn(
    'src/contents/restore.ts',
    one(
      'test/server/operations/backup/backup-targets.test.ts',
      'copies only what is new, and goes back to any',
    ),
    [['points.findLast(({ takenAt })', 'points.find(({ takenAt })']],
  ),
]
