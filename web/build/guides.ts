import { basename } from 'node:path'
import type { BunPlugin } from 'bun'
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'

/**
 * Turns a guide in `docs` into a module with its title, and the rest as HTML. HTML in the source is escaped.
 */
export const guides: BunPlugin = {
  name: 'guides',
  setup(build) {
    build.onLoad({ filter: /[\\/]docs[\\/]guide[\\/][\w-]+\.md$/ }, async ({ path }) => ({
      contents: `export default ${JSON.stringify(guideOf(await Bun.file(path).text()))}`,
      loader: 'js',
    }))
  },
}

function guideOf(markdown: string): { readonly title: string; readonly html: string } {
  const [, title, rest] = /^# (.+)\n([\s\S]*)$/.exec(markdown) ?? []
  if (title === undefined || rest === undefined) throw new Error('a guide begins with its title')
  const html = micromark(rest, { extensions: [gfm()], htmlExtensions: [gfmHtml()] })
  return { title, html: html.replaceAll(/href="([^":]+)"/g, (_, address) => `href="${onSite(address)}"`) }
}

/** Address on the site for a link between files of `docs`: guides are pages, the API is the reference. */
function onSite(address: string): string {
  const [path = '', fragment] = address.split('#')
  if (path === '') return address
  const name = basename(path, '.md')
  const place = path.startsWith('../api/') ? '/docs' : `/docs/${name}`
  return fragment === undefined || place === '/docs' ? place : `${place}#${fragment}`
}
