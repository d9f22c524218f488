import { enableCopy } from '../shared/copy-button.ts'
import { sayLinkIsOver } from '../shared/link-over.ts'
import { showLocalDays } from '../shared/local-days.ts'
import { rememberFiles } from '../shared/neighbouring-files.ts'
import { moveByArrows } from './arrow-keys.ts'

showLocalDays()
sayLinkIsOver()
enableCopy(document)
moveByArrows(document)
rememberFiles(document)
