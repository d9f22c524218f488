/** Hours of mixed work in minutes: nothing may be answered wrongly, and nothing may grow. */
import { join } from 'node:path'
import { type CrashModel, emptyModel, reconcile } from '../faults/crash-model.ts'
import { emptyTally, startTraffic } from '../faults/crash-traffic.ts'
import { type Chance, chance } from '../support/chance.ts'
import { caller, readBack, signedAddress, UnexpectedAnswer } from '../support/clients/caller.ts'
import { addAccount, type ChildSettings, startChild, temporaryFolder } from '../support/processes/child.ts'
import { inconsistencies } from '../support/storage/blob-folder.ts'
import { megabytes, processFigures } from './process-figures.ts'

const MIB = 1024 * 1024
const READERS = 3
const SETTINGS: ChildSettings = { RATE_LIMIT: '1000000000', STORAGE_LIMIT: '1GB' }
/** How far the memory of the last quarter may lie over that of the second, once the first has warmed the server. */
const GROWTH_LIMIT = 64 * MIB
/** Twice what readings of files may keep open. */
const OPEN_FILES_LIMIT = 128

/** Works for so many minutes, then kills the server and looks whether everything acknowledged is there. */
export async function soak(minutes: number): Promise<string> {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const { apiKey } = await addAccount(dataDir, 'soak')
  const model = emptyModel()
  const tally = emptyTally()
  const resident: number[] = []
  let reads = 0
  {
    await using server = await startChild(dataDir, SETTINGS)
    const traffic = startTraffic(caller(server.url, apiKey), model, tally, { round: 1, seed: 1 })
    const end = performance.now() + minutes * 60_000
    const readers = Array.from({ length: READERS }, async (_, number) => {
      const own = chance(number)
      while (performance.now() < end) {
        await readOne(server.url, model, own)
        reads += 1
      }
    })
    const watch = async () => {
      while (performance.now() < end) {
        await Bun.sleep(5000)
        const { resident: bytes, openFiles } = processFigures(server.pid)
        resident.push(bytes)
        if (openFiles > OPEN_FILES_LIMIT) throw new Error(`the server has ${openFiles} files open`)
      }
    }
    await Promise.race([Promise.all([watch(), ...readers]), traffic.over])
    traffic.expectDeath()
    await server.kill()
    await traffic.over
  }
  await using server = await startChild(dataDir, SETTINGS)
  const problems = await reconcile(model, caller(server.url, apiKey))
  await server.stop()
  problems.push(...inconsistencies(dataDir, { cleaned: true }))
  if (problems.length > 0) throw new Error(problems.join('\n'))

  const quarter = Math.floor(resident.length / 4)
  const early = mean(resident.slice(quarter, 2 * quarter))
  const late = mean(resident.slice(3 * quarter))
  const figures = `${JSON.stringify({ ...tally, reads })}; resident ${megabytes(early)}, at the end ${megabytes(late)}`
  if (late - early > GROWTH_LIMIT) throw new Error(`the memory grew: ${figures}`)
  return figures
}

/** Reads a file, or breaks off after the first piece of it. A file that was deleted meanwhile is none. */
async function readOne(url: string, model: CrashModel, own: Chance): Promise<void> {
  const known = [...model.files]
  if (known.length === 0) return Bun.sleep(10)
  const [slug, { name, sha256 }] = own.pick(known)
  try {
    if (own.fraction() < 0.3) {
      const response = await fetch(await signedAddress(url, slug), { keepalive: false })
      await response.body?.cancel()
    } else if ((await readBack(url, slug)).sha256 !== sha256) {
      throw new Error(`${name} was read with another hash`)
    }
  } catch (error) {
    if (!(error instanceof UnexpectedAnswer && error.status === 404)) throw error
  }
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
