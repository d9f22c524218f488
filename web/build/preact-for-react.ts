import type { BunPlugin } from 'bun'

const REPLACED: Readonly<Record<string, string>> = {
  react: 'preact/compat',
  'react-dom': 'preact/compat',
  'react-dom/client': 'preact/compat/client',
  'react/jsx-runtime': 'preact/jsx-runtime',
}

/**
 * Of pages that use no library of components. React's DOM alone weighs more than the rest of such a page. The server
 * renders with React; the markup is the same, except for the ids of `useId`, which the markup keeps.
 */
export const preactForReact: BunPlugin = {
  name: 'preact-for-react',
  setup(build) {
    build.onResolve({ filter: /^react(-dom)?(\/.*)?$/ }, ({ path }) => {
      const replacement = REPLACED[path]
      if (replacement === undefined) throw new Error(`Preact has no replacement for ${path}`)
      return { path: Bun.resolveSync(replacement, import.meta.dir) }
    })
  },
}
