/** tus-js-client as it comes from the registry, in programs that are killed and go on. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { chance } from '../../support/chance.ts'
import { api } from '../../support/clients/api.ts'
import { readBack, sha256, uploadResult } from '../../support/clients/caller.ts'
import { GENEROUS } from '../../support/clients/public.ts'
import { eventually } from '../../support/eventually.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/processes/child.ts'
import { startProgram, watchProgram } from '../../support/processes/program.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

const MIB = 1024 ** 2
const SIZE = 40 * MIB
const content = chance(31).bytes(SIZE)
const whole = { size: SIZE, sha256: sha256(content) }

const event = z.union([
  z.object({ url: z.string() }),
  z.object({ sent: z.number() }),
  z.object({ done: z.string() }),
  z.object({ failed: z.string() }),
])
type Event = z.infer<typeof event>

let holdfast: TestHoldfast
let folder: TemporaryFolder
let file: string
let program: string
beforeAll(async () => {
  holdfast = await startHoldfast(GENEROUS)
  folder = temporaryFolder()
  file = join(folder.path, 'content.bin')
  await Bun.write(file, content)
  const entrypoints = [join(import.meta.dir, 'tus-js-program.ts')]
  const built = await Bun.build({ entrypoints, target: 'node', outdir: folder.path, naming: 'program.mjs' })
  program = built.outputs[0]?.path ?? ''
})
afterAll(async () => {
  folder[Symbol.dispose]()
  await holdfast.stop()
})

/** Runs it until it ends by itself, or until `stop` says to kill it. All that it said. */
async function run(
  runtime: string,
  options: Readonly<Record<string, unknown>>,
  stop: (event: Event) => boolean = () => false,
): Promise<Event[]> {
  const running = startProgram([runtime, program, file, JSON.stringify(options)])
  const events: Event[] = []
  await watchProgram(running, ({ output }) => {
    const lines = output.split('\n').slice(events.length, -1)
    for (const line of lines) {
      const said = event.parse(JSON.parse(line))
      events.push(said)
      if (stop(said)) running.kill('SIGKILL')
    }
  })
  return events
}

async function expectWhole(address: string, key: string): Promise<void> {
  const look = async () => (await api(holdfast, key).get(new URL(address).pathname)).body
  await eventually('it is stored', async () => !Bun.deepMatch({ status: 'processing' }, await look()))
  const body = await look()
  expect(body).toMatchObject({ status: 'completed', ...whole })
  expect(await readBack(holdfast.url, uploadResult.parse(body).slug)).toEqual(whole)
}

describe.each([
  { name: 'Node.js', runtime: 'node' },
  { name: 'Bun', runtime: process.execPath },
])('tus-js-client in $name', ({ runtime }) => {
  test('goes on where it was when its program was killed', async () => {
    const { apiKey } = await holdfast.addAccount()
    const options = {
      endpoint: `${holdfast.url}/api/v1/uploads`,
      headers: { Authorization: `Bearer ${apiKey}` },
      metadata: { filename: 'content.bin' },
      chunkSize: MIB,
    }
    const enough = SIZE * (0.1 + Math.random() * 0.5)
    const before = await run(runtime, options, (said) => 'sent' in said && said.sent > enough)
    expect(before.some((said) => 'done' in said || 'failed' in said)).toBe(false)
    const uploadUrl = before.flatMap((said) => ('url' in said ? [said.url] : []))[0] ?? ''
    const after = await run(runtime, { ...options, uploadUrl })
    expect(after.at(-1)).toEqual({ done: uploadUrl })
    // What was there was not sent again.
    const [first = 0] = after.flatMap((said) => ('sent' in said ? [said.sent] : []))
    expect(first).toBeGreaterThan(enough - 2 * MIB)
    await expectWhole(uploadUrl, apiKey)
  })

  test('sends parts side by side, which are joined', async () => {
    const { apiKey } = await holdfast.addAccount()
    const events = await run(runtime, {
      endpoint: `${holdfast.url}/api/v1/uploads`,
      headers: { Authorization: `Bearer ${apiKey}` },
      metadata: { filename: 'content.bin' },
      parallelUploads: 3,
    })
    const [address = ''] = events.flatMap((said) => ('done' in said ? [said.done] : []))
    expect(events.some((said) => 'failed' in said)).toBe(false)
    await expectWhole(address, apiKey)
  })
})
