import { getDocument, PDFDataRangeTransport, type PDFDocumentProxy, PDFWorker } from 'pdfjs-dist'
import { fill } from '../shared/words.ts'
import type { FilePageParts } from './data.ts'
import { element } from './elements.ts'
import { pdfDataReaders } from './pdf-data.ts'
import { type PaintedPage, showPage } from './pdf-page.ts'
import { enablePdfZoom } from './pdf-zoom.ts'
import type { PreviewSource } from './source.ts'
import { type PreviewContext, present, presentMessage } from './stage.ts'

/** Enough for any book. Each page that waits costs an element. */
const MAX_PAGES = 1000
/** Pixels. A larger picture is left out: a sheet of A0 that was scanned with 300 dots an inch has 140 million. */
const MAX_IMAGE = 150_000_000
/** Bytes that are asked for at a time. */
const PIECE = 256 * 1024
/** Milliseconds between tries. */
const PAUSES = [500, 2000]

/**
 * Shows the pages of a PDF, each painted when it comes into sight and let go of when it is far away again. Nothing of
 * the document runs: pdf.js gets no scripting, no evaluation and no forms, and its worker has no network.
 */
export async function show({ stage, source, page, words }: PreviewContext): Promise<void> {
  const document = await open(source, page.parts).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'PasswordException') return null
    throw error
  })
  if (document === null) return presentMessage(stage, page, page.texts.locked)
  const first = await document.getPage(1)
  const { width, height } = first.getViewport({ scale: 1 })
  const shown = Math.min(document.numPages, MAX_PAGES)
  const pages = words.number(document.numPages)
  const places = Array.from({ length: shown }, (_, index) =>
    element('div', {
      class: 'pdf-page',
      role: 'img',
      'aria-label': fill(page.texts.pageOf, { page: words.number(index + 1), pages }),
      'data-page': String(index + 1),
    }),
  )
  for (const waiting of places) waiting.style.aspectRatio = `${width} / ${height}`
  const frame = element(
    'div',
    { class: 'pdf', tabindex: '0', role: 'region', 'aria-label': source.name },
    ...places,
  )
  present(
    stage,
    [frame],
    shown < document.numPages
      ? fill(page.texts.firstPages, { shown: words.number(shown), total: pages })
      : null,
  )
  enablePdfZoom(frame, paintInSight(document, frame, places))
}

async function open(source: PreviewSource, parts: FilePageParts): Promise<PDFDocumentProxy> {
  const port = new Worker(parts.pdfWorker, { type: 'module' })
  const range = new PDFDataRangeTransport(source.size, null)
  const loading = getDocument({
    worker: PDFWorker.create({ port }),
    range,
    rangeChunkSize: PIECE,
    disableAutoFetch: true,
    disableStream: true,
    enableXfa: false,
    maxImageSize: MAX_IMAGE,
    useWorkerFetch: false,
    ...pdfDataReaders(parts.pdfData),
  })
  range.requestDataRange = (begin: number, end: number) => {
    readPatiently(source, begin, end).then(
      (bytes) => range.onDataRange(begin, bytes),
      // Nothing else tells those who wait for the range.
      () => loading.destroy(),
    )
  }
  return loading.promise
}

async function readPatiently(source: PreviewSource, begin: number, end: number): Promise<Uint8Array> {
  for (const pause of PAUSES) {
    try {
      return await source.read(begin, end)
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
  return source.read(begin, end)
}

/** Paints pages that are in sight or next to it. Returns what paints these again, at another size. */
function paintInSight(
  document: PDFDocumentProxy,
  frame: HTMLElement,
  pages: readonly HTMLElement[],
): () => void {
  const painted = new Map<HTMLElement, PaintedPage>()
  const paint = (target: HTMLElement) =>
    painted.set(target, showPage(document, Number(target.dataset.page), target, painted.get(target)))
  const observer = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes) {
        if (!(target instanceof HTMLElement)) continue
        if (isIntersecting) paint(target)
        else {
          painted.get(target)?.end()
          painted.delete(target)
        }
      }
    },
    { root: frame, rootMargin: '100% 0px' },
  )
  for (const page of pages) observer.observe(page)
  return () => {
    for (const page of [...painted.keys()]) paint(page)
  }
}
