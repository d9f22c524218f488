import { moveByArrows } from './arrow-keys.ts'

moveByArrows(document)
