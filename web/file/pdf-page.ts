import { type PDFDocumentProxy, RenderingCancelledException, TextLayer } from 'pdfjs-dist'
import { element } from './elements.ts'

/** Pixels of one page, so that a page of any size costs no more memory than this. */
const MAX_PIXELS = 8_000_000

/** Paints a page into its place. Returns what lets go of it again. */
export function showPage(document: PDFDocumentProxy, number: number, place: HTMLElement): () => void {
  const ending = new AbortController()
  paint(document, number, place, ending.signal).catch((error: unknown) => {
    if (ending.signal.aborted || error instanceof RenderingCancelledException) return
    place.dataset.failed = 'true'
  })
  return () => {
    ending.abort()
    place.replaceChildren()
  }
}

async function paint(
  document: PDFDocumentProxy,
  number: number,
  place: HTMLElement,
  ending: AbortSignal,
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
  const rendering = page.render({ canvas, viewport })
  ending.addEventListener('abort', () => {
    rendering.cancel()
    // Memory of a canvas is given back at once only when it has no pixels.
    canvas.width = 0
    canvas.height = 0
  })
  await rendering.promise
  const text = element('div', { class: 'pdf-text' })
  place.replaceChildren(canvas, text)
  const layer = new TextLayer({
    textContentSource: page.streamTextContent(),
    container: text,
    viewport: page.getViewport({ scale: place.clientWidth / natural.width }),
  })
  ending.addEventListener('abort', () => layer.cancel())
  await layer.render()
}
