/**
 * The OpenAPI document of this release, as a file: a change of the contract shows as a difference.
 *
 *   npm run openapi
 */
import { join } from 'node:path'
import { sessionCookie } from '../../../../src/accounts/sign-in/sessions.ts'
import { openApiDocument } from '../../../../src/server/openapi/openapi-document.ts'
import { routes } from '../../../../src/server/routes.ts'

export const OPENAPI_FILE = join(import.meta.dir, '../../../../docs/api/openapi.json')

/** Stands in the document for wherever a server is. */
export const DOCUMENTED_SERVER = 'https://files.example.org'

if (import.meta.main) {
  const document = openApiDocument(routes, DOCUMENTED_SERVER, sessionCookie(DOCUMENTED_SERVER))
  await Bun.write(OPENAPI_FILE, `${JSON.stringify(document, null, 2)}\n`)
}
