import { enableCopy } from '../shared/copy-button.ts'
import { rememberFiles } from '../shared/neighbouring-files.ts'
import { moveByArrows } from './arrow-keys.ts'

enableCopy(document)
moveByArrows(document)
rememberFiles(document)
