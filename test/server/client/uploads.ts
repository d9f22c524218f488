/** What tests of uploads look at afterwards. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../support/cli/client.ts'

/** The bytes behind a link. */
export async function contentAt(link: string): Promise<Buffer> {
  const response = await fetch(`${link}?download=1`)
  if (!response.ok) throw new Error(`${link} answered ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

/** What the client has noted of uploads that are not done. */
export function stateFiles(client: Client): string[] {
  try {
    return readdirSync(join(client.home, 'state/holdfast/uploads'))
  } catch {
    return []
  }
}
