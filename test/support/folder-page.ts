/** Pages as a program reads them: opened, and the files on a folder's page. */
import { expect } from 'bun:test'
import { type At, elements, type Headers, visit } from './public.ts'

/** The HTML of a page that is there. */
export async function readPage(host: At, address: string, headers: Headers = {}): Promise<string> {
  const response = await visit(host, address, { headers })
  expect(response.status).toBe(200)
  return response.text()
}

/** The names of the files on a folder's page, in their order. */
export function fileNames(html: string): string[] {
  return elements(html, '.file-item').map((item) => item.attributes['data-name'] ?? '')
}
