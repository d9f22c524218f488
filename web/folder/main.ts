import { enableCopy } from '../shared/copy-button.ts'
import { moveByArrows } from './arrow-keys.ts'

enableCopy(document)
moveByArrows(document)
