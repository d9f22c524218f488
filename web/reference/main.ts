import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import { readPageData } from '../shared/page-data.ts'
import { REFERENCE, type ReferenceData } from './data.ts'
import { labelFields } from './labels.ts'
import { LAYOUT, layoutPlugin } from './layout.ts'
import { sessionPlugin } from './session-auth.ts'

/**
 * The tag of the routes that answer pages for people. It begins closed: a program has no use for it, and with more than 150
 * rows open Swagger UI keeps in the page only what is in the window, so that the browser's own search finds nothing else.
 */
const PAGES = 'Site'

const place = document.getElementById(REFERENCE)
if (place !== null) void show(place, readPageData<ReferenceData>())

/** Shows the document of the API; what is tried out is sent to where the page was opened. */
async function show(place: HTMLElement, data: ReferenceData): Promise<void> {
  const spec = await documentAt(data.document)
  place.removeAttribute('aria-busy')
  if (spec === null) {
    place.textContent = data.failed
    return
  }
  const reference = SwaggerUI({
    domNode: place,
    spec: { ...spec, servers: [{ url: location.origin }] },
    layout: LAYOUT,
    plugins: [layoutPlugin, sessionPlugin],
    displayRequestDuration: true,
    // Its colours are too pale on their ground.
    syntaxHighlight: false,
    // Otherwise it sends the document to its makers.
    validatorUrl: null,
  })
  labelFields(place)
  reference.layoutActions.show(['operations-tag', PAGES], false)
}

async function documentAt(address: string): Promise<object | null> {
  try {
    const answer = await fetch(address)
    return answer.ok ? await answer.json() : null
  } catch {
    return null
  }
}
