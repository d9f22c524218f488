import type { BunPlugin } from 'bun'
import postcss, { type ChildNode, type Rule } from 'postcss'

/**
 * Makes Mantine's stylesheets follow the system's colour scheme without a script: rules for an attribute of
 * the document become media queries. Removes colours that no page uses.
 */
export const mantineStyles: BunPlugin = {
  name: 'mantine-styles',
  setup(build) {
    build.onLoad({ filter: /@mantine[\\/]core[\\/]styles[\\/].*\.css$/ }, async ({ path }) => ({
      contents: followSystem(await Bun.file(path).text()),
      loader: 'css',
    }))
  },
}

const SCHEME = /\[data-mantine-color-scheme(?:=['"](light|dark)['"])?\]/
/** Families of Mantine's palette that the theme does not use. */
const UNUSED = /^--mantine-color-(blue|cyan|grape|green|indigo|lime|orange|pink|teal|violet)-/

export function followSystem(css: string): string {
  const root = postcss.parse(css)
  root.walkDecls(UNUSED, (declaration) => {
    declaration.remove()
  })
  root.walkRules((rule) => {
    if (!rule.selectors.some((selector) => SCHEME.test(selector))) return
    const byScheme = Map.groupBy(rule.selectors, (selector) => SCHEME.exec(selector)?.[1] ?? null)
    rule.replaceWith([...byScheme].map(([scheme, selectors]) => inScheme(rule, scheme, selectors)))
  })
  return root.toString()
}

function inScheme(rule: Rule, scheme: string | null, selectors: readonly string[]): ChildNode {
  // Shadow DOM is not used.
  const kept = selectors.filter((selector) => !selector.startsWith(':host('))
  const copy = rule.clone({ selectors: kept.map(withoutScheme) })
  if (scheme === null) return copy
  return postcss.atRule({ name: 'media', params: `(prefers-color-scheme: ${scheme})` }).append(copy)
}

/**
 * Replaces the attribute selector with `:root`, which has the same specificity, so that the cascade is
 * unchanged.
 */
function withoutScheme(selector: string): string {
  return selector.startsWith(':root[') ? selector.replace(SCHEME, '') : selector.replace(SCHEME, ':root')
}
