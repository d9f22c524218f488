/** A large file that is downloaded while it is uploaded, both over lines that are cut again and again. */
import { join } from 'node:path'
import { z } from 'zod'
import { badLineSeed } from '../faults/bad-line-run.ts'
import { newClient } from '../support/cli/client.ts'
import { api } from '../support/clients/public.ts'
import { eventually } from '../support/eventually.ts'
import { startBadLine } from '../support/network/bad-line.ts'
import { writeLarge } from './bad-line.ts'
import { withWarmServer } from './memory.ts'
import { megabytes, processFigures } from './process-figures.ts'

const MIB = 1024 ** 2
const GIB = 1024 * MIB
/** Of each of the two lines. */
const CUTS = 50
/** An upload whose line is cut so often takes over 80 MB by itself, the reader some more. */
const LIMIT = 128 * MIB

const uploads = z.object({ data: z.array(z.object({ url: z.string() })) })

/** By the command line on both sides; the receiver begins once the first bytes have come. */
export async function downloadMeanwhile(gigabytes: number): Promise<string> {
  return withWarmServer({ MAX_FILE_SIZE: `${gigabytes}GB` }, async (server, key, warm) => {
    await using stack = new AsyncDisposableStack()
    const size = gigabytes * GIB
    const [sender, receiver] = [stack.use(newClient()), stack.use(newClient())]
    const seed = badLineSeed()
    const most = Math.floor(size / CUTS)
    const up = stack.adopt(await startBadLine([server.url], { seed, cuts: CUTS, most }), (line) =>
      line.stop(),
    )
    const down = stack.adopt(
      await startBadLine([server.url], { seed: seed + 1, cuts: CUTS, most, of: 'downloads' }),
      (line) => line.stop(),
    )
    const sha256 = await writeLarge(join(sender.folder, 'film.bin'), size)
    const begin = performance.now()
    const sending = sender.runWith(
      { env: { HOLDFAST_SERVER: up.url, HOLDFAST_API_KEY: key } },
      'upload',
      'film.bin',
    )
    const begun = async () => uploads.parse((await api(server, key, 'GET', '/api/v1/uploads')).body).data[0]
    await eventually('the upload has begun', async () => (await begun()) !== undefined, 60)
    const slug = (await begun())?.url.split('/').at(-1) ?? ''
    const [sent, received] = await Promise.all([
      sending.finally(() => console.log(`sent after ${secondsSince(begin)} s`)),
      receiver.run('download', `${down.url}/d/${slug}`, '--json'),
    ])
    const seconds = secondsSince(begin)
    const figures = `HOLDFAST_TEST_BAD_LINE_SEED=${seed}, ${up.cuts()} and ${down.cuts()} cuts`
    if (sent.code !== 0 || received.code !== 0)
      throw new Error(`${figures}: ${sent.errors}${received.errors}`)
    const got = z.object({ size: z.number(), sha256: z.string() }).parse(JSON.parse(received.output))
    if (got.size !== size || got.sha256 !== sha256) throw new Error(`${figures}: it is ${Bun.inspect(got)}`)
    const { peak } = processFigures(server.pid)
    const text = `${gigabytes} GB in ${seconds} s, the receiver is done with the sender; ${figures}; same hash; warm ${megabytes(warm)}, peak ${megabytes(peak)}, raised by ${megabytes(peak - warm)}`
    if (peak - warm > LIMIT) throw new Error(`${text}, allowed are ${megabytes(LIMIT)}`)
    return text
  })
}

function secondsSince(begin: number): number {
  return Math.round((performance.now() - begin) / 1000)
}
