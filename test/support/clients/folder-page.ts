/** HTML pages as download programs read them. */
import { expect } from 'bun:test'
import { type At, elements, type Headers, visit } from './public.ts'

/** HTML of a page; expects status 200. */
export async function readPage(host: At, address: string, headers: Headers = {}): Promise<string> {
  const response = await visit(host, address, { headers })
  expect(response.status).toBe(200)
  return response.text()
}

/** Names of the files on a folder page, in order. */
export function fileNames(html: string): string[] {
  return elements(html, '.file-item').map((item) => item.attributes['data-name'] ?? '')
}
