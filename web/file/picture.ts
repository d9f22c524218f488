/** What is known of a picture once it is here, and the way from a smaller one to the file itself. */
import { fill, type Words } from '../shared/words.ts'
import type { FileScriptTexts } from './data.ts'
import { element } from './elements.ts'
import type { PreviewSource } from './source.ts'

export async function canShow(picture: HTMLImageElement): Promise<boolean> {
  try {
    await picture.decode()
    return true
  } catch {
    return false
  }
}

/** Pixels of a side that are looked at: enough to meet what is see-through in a picture. */
const SAMPLED = 64
const OPAQUE = 255

/** Whether the ground shows through the picture. One of another origin cannot be read; its thumbnail can. */
export async function isSeeThrough(picture: HTMLImageElement, thumbnailUrl: string | null): Promise<boolean> {
  try {
    return hasHoles(picture)
  } catch {
    if (thumbnailUrl === null) return false
    const thumbnail = new Image()
    thumbnail.src = thumbnailUrl
    return (await canShow(thumbnail)) && hasHoles(thumbnail)
  }
}

/** Throws where the browser lets nobody read the picture. */
function hasHoles(picture: HTMLImageElement): boolean {
  const canvas = element('canvas', { width: String(SAMPLED), height: String(SAMPLED) })
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (context === null) return false
  context.drawImage(picture, 0, 0, SAMPLED, SAMPLED)
  const { data } = context.getImageData(0, 0, SAMPLED, SAMPLED)
  return data.some((value, at) => at % 4 === 3 && value < OPAQUE)
}

/** Puts the file itself in the place of a smaller picture of it, as soon as all of it is here. */
export function originalButton(parts: {
  readonly picture: HTMLImageElement
  readonly source: PreviewSource
  readonly texts: FileScriptTexts
  readonly words: Words
  readonly swapped: () => void
}): HTMLElement {
  const { picture, source, texts, words, swapped } = parts
  const label = fill(texts.original, { size: words.size(source.size) })
  const button = element('button', { type: 'button', class: 'original' }, label)
  const said = element('p', { class: 'stage-note small', role: 'status', hidden: '' })
  const box = element('div', { class: 'original-part' }, button, said)
  button.addEventListener('click', async () => {
    if (button.ariaDisabled === 'true') return
    button.ariaDisabled = 'true'
    button.textContent = texts.originalComing
    const original = new Image()
    original.src = source.url
    const isHere = await canShow(original)
    if (isHere) {
      picture.src = original.src
      await canShow(picture)
      swapped()
      box.remove()
      return
    }
    button.ariaDisabled = 'false'
    button.textContent = label
    said.textContent = texts.originalFailed
    said.hidden = false
  })
  return box
}
