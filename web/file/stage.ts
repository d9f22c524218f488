import type { Words } from '../shared/words.ts'
import type { FilePageData } from './data.ts'
import { element } from './elements.ts'
import type { PreviewSource } from './source.ts'

/** What every previewer gets. */
export interface PreviewContext {
  /** Where it is shown. What stands there now gives way. */
  readonly stage: HTMLElement
  readonly source: PreviewSource
  readonly page: FilePageData
  readonly words: Words
}

/** Shows a preview, or throws; then the page says so and offers the download. */
export type Show = (preview: PreviewContext) => Promise<void> | void

/** Shows the nodes on the stage, and below them what has to be said, such as that this is a part. */
export function present(stage: HTMLElement, nodes: readonly Node[], note: string | null = null): void {
  const below = note === null ? [] : [element('p', { class: 'stage-note small quiet' }, note)]
  stage.replaceChildren(...nodes, ...below)
  stage.removeAttribute('aria-busy')
}

/** Says on the stage why nothing is shown. */
export function presentMessage(stage: HTMLElement, page: FilePageData, message: string): void {
  stage.className = 'stage stage-message'
  present(stage, [
    element('p', { role: 'status' }, message),
    element(
      'a',
      { class: 'button button-quiet', href: page.downloadUrl, rel: 'nofollow' },
      page.texts.downloadInstead,
    ),
  ])
}
