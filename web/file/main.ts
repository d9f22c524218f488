/** Starts what moves on the page of a file. Previewers are loaded when they are needed. */
import { zoneHere } from '../../src/domain/days.ts'
import { enableCopy } from '../shared/copy-button.ts'
import { sayLinkIsOver } from '../shared/link-over.ts'
import { showLocalDays } from '../shared/local-days.ts'
import { readPageData } from '../shared/page-data.ts'
import { createWords } from '../shared/words.ts'
import type { FilePageData } from './data.ts'
import { showNextFile } from './next-file.ts'
import { showPreview } from './previews.ts'
import { enableVerify } from './verify.ts'

const page = readPageData<FilePageData>()
showLocalDays()
sayLinkIsOver()
enableCopy(document)
enableVerify(page, createWords(page.locale, zoneHere()))
showNextFile(page.texts)
const stage = document.querySelector<HTMLElement>('#stage')
if (stage !== null) void showPreview(stage, page)
