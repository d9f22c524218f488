/** Pages. */
import { type Change, changesIn, one } from '../change.ts'

export const pages: readonly Change[] = [
  ...changesIn(
    'src/pages/folder-page.ts',
    one('test/server/pages/folder-page.test.ts', 'hides a private subfolder from everybody but'),
    [['showsPrivate: isOwn(seen),', 'showsPrivate: true,']],
  ),
  ...changesIn(
    'src/pages/folder-contents.ts',
    one('test/server/server/requests/odd-requests.test.ts', 'does not tell how many files are in a'),
    [
      [
        'fileCount: sharing.access.opens(seen.viewer, sub) ? sub.file_count : null',
        'fileCount: sub.file_count',
      ],
    ],
  ),
  ...changesIn(
    'src/pages/file-page.ts',
    one('test/cluster/downloads/arrivals.test.ts', 'who may no longer see the file gets no more'),
    [['isLetIn: async () => isOpenTo(sharing.access, await asking(), slug)', 'isLetIn: async () => true']],
  ),
  ...changesIn(
    'src/pages/file-page.ts',
    one('test/server/sharing/report-page.test.ts', 'is a link away from the page of the file'),
    [['reportUrl: isOwner ? null :', 'reportUrl: !isOwner ? null :']],
  ),
]
