import { zoneHere } from '../../src/domain/days.ts'
import { createWords } from '../shared/words.ts'
import type { FilePageData, PreviewKind } from './data.ts'
import { openSource } from './source.ts'
import { presentMessage, type Show } from './stage.ts'

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

/** Takes over a stage that the server rendered, with the previewer of its kind, which is loaded now. */
export async function showPreview(stage: HTMLElement, page: FilePageData): Promise<void> {
  if (page.preview === null) return
  const { kind, url } = page.preview
  const words = createWords(page.locale, zoneHere())
  try {
    const { show } = await previewers[kind]()
    await show({ stage, page, words, source: openSource({ name: page.name, size: page.size, url }) })
  } catch (error) {
    console.error(error)
    presentMessage(stage, page, page.texts.previewFailed)
  }
}
