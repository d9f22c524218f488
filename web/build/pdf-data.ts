import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { version } from 'pdfjs-dist/package.json'

const PACKAGE = dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json')))
/** Tables of encodings, the standard fonts, decoders; and their licences, which go along. */
const WANTED = [
  'cmaps/*.bcmap',
  'standard_fonts/*.pfb',
  'standard_fonts/*.ttf',
  'wasm/jbig2.wasm',
  'wasm/openjpeg.wasm',
  '*/LICENSE*',
]

/**
 * Puts what pdf.js loads for some documents among the assets. The version stands in the names, so that they may be kept
 * for ever. Returns what the addresses begin with.
 */
export async function copyPdfData(folder: string): Promise<string> {
  const prefix = `pdfjs-${version}-`
  const paths = WANTED.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(PACKAGE)])
  await Promise.all(
    paths.map((path) => Bun.write(join(folder, prefix + basename(path)), Bun.file(join(PACKAGE, path)))),
  )
  return `/assets/${prefix}`
}
