import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BunPlugin } from 'bun'

/** Path of the assets on the site. */
const ADDRESS = '/assets/'
const PACKAGE = '@fontsource-variable/funnel-display'
const LATIN = `${PACKAGE}/files/funnel-display-latin-wght-normal.woff2`
const FONTS = [LATIN, `${PACKAGE}/files/funnel-display-latin-ext-wght-normal.woff2`]

/** Bun would inline fonts of this size into the stylesheet, which every page waits for. */
export const fontAddresses: BunPlugin = {
  name: 'font-addresses',
  setup(build) {
    build.onResolve({ filter: /\.woff2$/ }, async ({ path }) => ({
      path: ADDRESS + (await nameOf(path)),
      external: true,
    }))
  },
}

/** Copies the fonts and their licence; returns the address of the one for Latin letters, which pages preload. */
export async function copyTypeface(folder: string): Promise<string> {
  await Promise.all([
    ...FONTS.map(async (font) => Bun.write(join(folder, await nameOf(font)), Bun.file(pathOf(font)))),
    Bun.write(join(folder, 'funnel-display-LICENSE'), Bun.file(pathOf(`${PACKAGE}/LICENSE`))),
  ])
  return ADDRESS + (await nameOf(LATIN))
}

/** With a hash of the content, so that browsers may keep it for good. */
async function nameOf(font: string): Promise<string> {
  const bytes = await Bun.file(pathOf(font)).bytes()
  const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 8)
  return `${basename(font, '-wght-normal.woff2')}-${hash}.woff2`
}

function pathOf(specifier: string): string {
  return fileURLToPath(import.meta.resolve(specifier))
}
