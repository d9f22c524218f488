import { fill } from '../shared/words.ts'
import { decodeText } from './decode.ts'
import type { PreviewContext } from './stage.ts'
import { presentMessage } from './stage.ts'

/** As much of a text as is shown of it. Enough for nearly every text, and no browser is troubled by it. */
const SHOWN = 256 * 1024

export interface TextPart {
  readonly text: string
  /** Whether this is all of the file. */
  readonly isWhole: boolean
  /** Says that it is a part; null when it is all. */
  readonly note: string | null
}

/** The beginning of a file as text; null when there is none, and the page has said so. */
export async function readTextPart({ stage, source, page, words }: PreviewContext): Promise<TextPart | null> {
  const bytes = await source.read(0, SHOWN)
  const { text, isBinary } = decodeText(bytes, source.charset())
  if (source.size === 0 || isBinary) {
    presentMessage(stage, page, source.size === 0 ? page.texts.empty : page.texts.binary)
    return null
  }
  const isWhole = bytes.length >= source.size
  const shown = { shown: words.size(bytes.length), size: words.size(source.size) }
  return { text, isWhole, note: isWhole ? null : fill(page.texts.shownPart, shown) }
}
