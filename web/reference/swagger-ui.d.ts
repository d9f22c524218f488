/** As much of Swagger UI as is used. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  import type { ComponentType, createElement } from 'react'

  export interface System {
    /** Swagger UI's own copy of React, which its components need. */
    readonly React: { readonly createElement: typeof createElement }
    /** A component by its name; a container finds by itself what it shows. */
    getComponent(name: string, isContainer: true): ComponentType
  }

  /** A way to say who asks, as the document has it. */
  export interface Scheme {
    readonly name: string
    readonly schema: { get(field: 'description'): string | undefined }
  }

  export default function SwaggerUI(options: {
    readonly domNode: HTMLElement
    readonly spec: object
    /** The name of the component that is rendered. */
    readonly layout: string
    readonly plugins: readonly ((system: System) => {
      readonly components: Record<string, ComponentType<System>> | Record<string, ComponentType<Scheme>>
    })[]
    readonly displayRequestDuration: boolean
    readonly syntaxHighlight: false
    readonly validatorUrl: null
  }): {
    readonly layoutActions: {
      /** Opens or closes what is named by its kind and its name. */
      show(thing: readonly ['operations-tag', string], shown: boolean): void
    }
  }
}
