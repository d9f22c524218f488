import { enableCopy } from '../shared/copy-button.ts'
import { sayLinkIsOver } from '../shared/link-over.ts'
import { showLocalDays } from '../shared/local-days.ts'
import { noteFiles, rememberFiles } from '../shared/neighbouring-files.ts'
import { dataOf } from '../shared/public-page-data.ts'
import { moveByArrows } from './arrow-keys.ts'
import type { FolderPageData } from './data.ts'
import { addFilesAsNeeded, FILES_ADDED } from './more-files.ts'
import { openInViewer } from './open-viewer.ts'

showLocalDays()
sayLinkIsOver()
enableCopy(document)
moveByArrows(document)
rememberFiles(document)
const page = dataOf<FolderPageData>(document)
if (page !== null) openInViewer(page)
document.addEventListener(FILES_ADDED, () => {
  showLocalDays()
  noteFiles(document)
})
addFilesAsNeeded()
