import { enableCopy } from '../shared/copy-button.ts'
import { openTargets } from './targets.ts'

enableCopy(document)
openTargets(window)
