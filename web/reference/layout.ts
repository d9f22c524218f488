import type { ComponentType } from 'react'
import type { System } from 'swagger-ui-dist/swagger-ui-es-bundle.js'

/** The name of the component that `layoutPlugin` adds. */
export const LAYOUT = 'HoldfastLayout'

/**
 * Shows the routes and the way to give a key. The page has a title and a main part already; Swagger UI's own layout would
 * bring a second of each, and a choice among one server.
 */
export function layoutPlugin({ React }: System): { components: Record<string, ComponentType<System>> } {
  const { createElement } = React
  function HoldfastLayout({ getComponent }: System) {
    return createElement(
      'div',
      { className: 'swagger-ui' },
      createElement(
        'div',
        { className: 'reference-head' },
        createElement('h2', null, 'Routes'),
        createElement(getComponent('AuthorizeBtnContainer', true)),
      ),
      createElement(getComponent('operations', true)),
    )
  }
  return { components: { [LAYOUT]: HoldfastLayout } }
}
