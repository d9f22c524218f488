import { expect, test } from 'bun:test'
import { startHoldfast } from '../../../support/servers/holdfast.ts'
import { DOCUMENTED_SERVER, OPENAPI_FILE } from './openapi-file.ts'

test('the OpenAPI document that a server gives out is the one in docs/api/openapi.json', async () => {
  const holdfast = await startHoldfast({ publicUrl: DOCUMENTED_SERVER })
  try {
    const response = await fetch(`${holdfast.url}/api/v1/openapi.json`)
    const served = JSON.stringify(await response.json(), null, 2)
    const kept = (await Bun.file(OPENAPI_FILE).text()).trimEnd()
    expect(firstDifference(kept, served), 'run "npm run openapi", and read what has changed').toBeNull()
  } finally {
    await holdfast.stop()
  }
})

/** The first line that differs, with its number; null when there is none. */
function firstDifference(kept: string, served: string) {
  const [keptLines, servedLines] = [kept.split('\n'), served.split('\n')]
  const at = Array.from({ length: Math.max(keptLines.length, servedLines.length) }).findIndex(
    (_, line) => keptLines[line] !== servedLines[line],
  )
  return at === -1 ? null : { line: at + 1, kept: keptLines[at], served: servedLines[at] }
}
