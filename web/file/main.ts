/** Starts what moves on the page of a file. Previewers are loaded when they are needed. */
import { zoneHere } from '../../src/domain/days.ts'
import { enableCopy } from '../shared/copy-button.ts'
import { sayLinkIsOver } from '../shared/link-over.ts'
import { showLocalDays } from '../shared/local-days.ts'
import { readPageData } from '../shared/page-data.ts'
import { createWords } from '../shared/words.ts'
import type { FilePageData, PreviewKind } from './data.ts'
import { showNextFile } from './next-file.ts'
import { openSource } from './source.ts'
import { presentMessage, type Show } from './stage.ts'
import { enableVerify } from './verify.ts'

const previewers: Readonly<Record<PreviewKind, () => Promise<{ readonly show: Show }>>> = {
  image: () => import('./image.ts'),
  video: () => import('./media.ts'),
  audio: () => import('./media.ts'),
  pdf: () => import('./pdf.ts'),
  text: () => import('./code.ts'),
  code: () => import('./code.ts'),
  markdown: () => import('./markdown.ts'),
  table: () => import('./table.ts'),
  archive: () => import('./archive.ts'),
}

const page = readPageData<FilePageData>()
const words = createWords(page.locale, zoneHere())
showLocalDays()
sayLinkIsOver()
enableCopy(document)
enableVerify(page, words)
showNextFile(page.texts)
void showPreview()

async function showPreview(): Promise<void> {
  const stage = document.querySelector<HTMLElement>('#stage')
  if (stage === null || page.preview === null) return
  const { kind, url } = page.preview
  try {
    const { show } = await previewers[kind]()
    await show({ stage, page, words, source: openSource({ name: page.name, size: page.size, url }) })
  } catch (error) {
    console.error(error)
    presentMessage(stage, page, page.texts.previewFailed)
  }
}
