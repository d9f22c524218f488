import { type PDFDocumentProxy, RenderingCancelledException, TextLayer } from 'pdfjs-dist'
import { element } from './elements.ts'

/** Pixels of one page, so that a page of any size costs no more memory than this. */
const MAX_PIXELS = 8_000_000

export interface PaintedPage {
  /** Lets go of it. */
  end(): void
}

/** Paints a page into its place. `before` stays in sight until this one is there, and is ended then. */
export function showPage(
  document: PDFDocumentProxy,
  number: number,
  place: HTMLElement,
  before: PaintedPage | undefined,
): PaintedPage {
  const ending = new AbortController()
  paint(document, number, place, { ending: ending.signal, shown: () => before?.end() }).catch(
    (error: unknown) => {
      if (ending.signal.aborted || error instanceof RenderingCancelledException) return
      place.dataset.failed = 'true'
    },
  )
  return {
    end() {
      before?.end()
      ending.abort()
    },
  }
}

interface Painting {
  readonly ending: AbortSignal
  readonly shown: () => void
}

async function paint(
  document: PDFDocumentProxy,
  number: number,
  place: HTMLElement,
  { ending, shown }: Painting,
): Promise<void> {
  const page = await document.getPage(number)
  if (ending.aborted) return
  const natural = page.getViewport({ scale: 1 })
  place.style.aspectRatio = `${natural.width} / ${natural.height}`
  const wanted = (place.clientWidth / natural.width) * devicePixelRatio
  const most = Math.sqrt(MAX_PIXELS / (natural.width * natural.height))
  const viewport = page.getViewport({ scale: Math.min(wanted, most) })
  const canvas = element('canvas')
  canvas.width = Math.floor(viewport.width)
  canvas.height = Math.floor(viewport.height)
  const text = element('div', { class: 'pdf-text' })
  const rendering = page.render({ canvas, viewport })
  ending.addEventListener('abort', () => {
    rendering.cancel()
    // Memory of a canvas is given back at once only when it has no pixels.
    canvas.width = 0
    canvas.height = 0
    canvas.remove()
    text.remove()
  })
  await rendering.promise
  if (ending.aborted) return
  place.append(canvas, text)
  shown()
  const layer = new TextLayer({
    textContentSource: page.streamTextContent(),
    container: text,
    viewport: page.getViewport({ scale: place.clientWidth / natural.width }),
  })
  ending.addEventListener('abort', () => layer.cancel())
  await layer.render()
}
