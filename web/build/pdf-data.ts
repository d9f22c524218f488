import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { version } from 'pdfjs-dist/package.json'

const PACKAGE = dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json')))
/** Character maps, standard fonts and decoders, with their licences. */
const WANTED = [
  'cmaps/*.bcmap',
  'standard_fonts/*.pfb',
  'standard_fonts/*.ttf',
  'wasm/jbig2.wasm',
  'wasm/openjpeg.wasm',
  '*/LICENSE*',
]

/**
 * Copies data that pdf.js loads for some documents to the assets. Names contain the version, so that they may
 * be cached for ever. Returns the prefix of their addresses.
 */
export async function copyPdfData(folder: string): Promise<string> {
  const prefix = `pdfjs-${version}-`
  const paths = WANTED.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(PACKAGE)])
  await Promise.all(
    paths.map((path) => Bun.write(join(folder, prefix + basename(path)), Bun.file(join(PACKAGE, path)))),
  )
  return `/assets/${prefix}`
}
