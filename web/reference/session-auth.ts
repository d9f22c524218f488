import type { ComponentType } from 'react'
import type { Scheme, System } from 'swagger-ui-dist/swagger-ui-es-bundle.js'

/** Says of the session what it is, where Swagger UI would ask for it: browsers send it by themselves, and scripts cannot. */
export function sessionPlugin({ React }: System): { components: Record<string, ComponentType<Scheme>> } {
  const { createElement } = React
  function SessionAuth({ name, schema }: Scheme) {
    return createElement(
      'div',
      { className: 'session-auth' },
      createElement('h4', null, name),
      createElement('p', null, schema.get('description')),
    )
  }
  return { components: { apiKeyAuth: SessionAuth } }
}
