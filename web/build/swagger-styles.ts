import type { BunPlugin } from 'bun'
import postcss, { type Rule } from 'postcss'

/**
 * Makes Swagger UI's stylesheet follow the system's colour scheme without any script: its rules for the dark wait for a
 * class of the document.
 */
export const swaggerStyles: BunPlugin = {
  name: 'swagger-styles',
  setup(build) {
    build.onLoad({ filter: /swagger-ui-dist[\\/]swagger-ui\.css$/ }, async ({ path }) => ({
      contents: inBothSchemes(await Bun.file(path).text()),
      loader: 'css',
    }))
  },
}

const DARK = 'html.dark-mode'

export function inBothSchemes(css: string): string {
  const root = postcss.parse(css)
  root.walkRules((rule: Rule) => {
    if (!rule.selector.includes(DARK)) return
    // As specific as with the class, so that the rule wins and loses against the same others.
    const dark = rule.clone({ selectors: rule.selectors.map((each) => each.replace(DARK, 'html:root')) })
    rule.replaceWith(postcss.atRule({ name: 'media', params: '(prefers-color-scheme: dark)' }).append(dark))
  })
  return root.toString()
}
