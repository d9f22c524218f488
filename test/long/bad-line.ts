/** A large file over a line that is cut a hundred times, to servers that are killed ten times meanwhile. */
import { sendByCommandLine } from '../faults/bad-line-command.ts'
import { byCommandLine, byTusJs, byTusJsToNodes } from '../faults/bad-line-everyday.ts'
import { badLineSeed } from '../faults/bad-line-run.ts'
import { chance } from '../support/chance.ts'
import { type KillableServers, killableNodes, killableServer } from '../support/servers/killable-servers.ts'
import { startCeph } from '../support/storage/ceph.ts'

const MIB = 1024 ** 2
const GB = 1000 ** 3
const CUTS = 100
const KILLS = 10

/** To one server on SQLite and a folder. */
export async function badLine(gigabytes: number): Promise<string> {
  await using server = await killableServer()
  return await send(server, gigabytes)
}

/** To three nodes on PostgreSQL and S3, one of which is killed each time. */
export async function badLineToNodes(gigabytes: number): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const ceph = stack.adopt(await startCeph({ onDisk: true }), (it) => it.stop())
  const nodes = stack.use(await killableNodes(KILLS, ceph))
  return await send(nodes, gigabytes)
}

/** What the suite does, with so many cuts and a tenth of them kills. */
export async function badLineClients(cuts: number): Promise<string> {
  const measure = { seed: badLineSeed(), cuts, kills: Math.ceil(cuts / 10) }
  const figures: string[] = []
  for (const send of [byTusJs, byTusJsToNodes, byCommandLine]) {
    const begin = performance.now()
    await send(measure)
    figures.push(`${send.name} ${Math.round((performance.now() - begin) / 1000)} s`)
  }
  return `${figures.join(', ')}; ${cuts} cuts and ${measure.kills} kills each, read back with the same hash`
}

async function send(servers: KillableServers, gigabytes: number): Promise<string> {
  const size = gigabytes * GB
  const course = { seed: badLineSeed(), cuts: CUTS, kills: KILLS, size, largestBody: '100m' }
  const seconds = await sendByCommandLine(servers, { ...course, write: (path) => writeLarge(path, size) })
  return `${gigabytes} GB in ${Math.round(seconds)} s, ${CUTS} cuts, ${KILLS} kills; read back with the same hash`
}

/** No two of its mebibytes are the same. */
export async function writeLarge(path: string, size: number): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  const piece = chance(3).bytes(MIB)
  const words = new DataView(piece.buffer)
  const file = Bun.file(path).writer()
  for (let at = 0; at < size; at += MIB) {
    words.setUint32(0, at / MIB)
    const part = piece.slice(0, Math.min(MIB, size - at))
    hash.update(part)
    file.write(part)
    await file.flush()
  }
  await file.end()
  return hash.digest('hex')
}
