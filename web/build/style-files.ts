import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BunPlugin } from 'bun'

/** Path of the assets on the site. */
const ADDRESS = '/assets/'
const PACKAGE = '@fontsource-variable/funnel-display'
const LATIN = pathOf(`${PACKAGE}/files/funnel-display-latin-wght-normal.woff2`)
const LATIN_EXT = pathOf(`${PACKAGE}/files/funnel-display-latin-ext-wght-normal.woff2`)
const KELP = join(import.meta.dir, '../shared/styles/kelp.svg')

/** Bun would inline fonts and drawings into the stylesheet, which every page waits for. */
export const styleFileAddresses: BunPlugin = {
  name: 'style-file-addresses',
  setup(build) {
    build.onResolve({ filter: /\.(woff2|svg)$/ }, async ({ path, importer }) => ({
      path: ADDRESS + (await nameOf(path.startsWith('.') ? join(dirname(importer), path) : pathOf(path))),
      external: true,
    }))
  },
}

/** Copies what stylesheets name, and the font's licence. */
export async function copyStyleFiles(folder: string): Promise<{
  /** Address of the font for Latin letters, which pages preload. */
  readonly typeface: string
  /** Paths in the repository. */
  readonly sources: readonly string[]
}> {
  await Promise.all([
    ...[LATIN, LATIN_EXT, KELP].map(async (file) =>
      Bun.write(join(folder, await nameOf(file)), Bun.file(file)),
    ),
    Bun.write(join(folder, 'funnel-display-LICENSE'), Bun.file(pathOf(`${PACKAGE}/LICENSE`))),
  ])
  return { typeface: ADDRESS + (await nameOf(LATIN)), sources: ['web/shared/styles/kelp.svg'] }
}

/** With a hash of the content, so that browsers may keep it for good. */
async function nameOf(file: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
    .update(await Bun.file(file).bytes())
    .digest('hex')
    .slice(0, 8)
  const ending = extname(file)
  return `${basename(file, ending).replace('-wght-normal', '')}-${hash}${ending}`
}

function pathOf(specifier: string): string {
  return fileURLToPath(import.meta.resolve(specifier))
}
