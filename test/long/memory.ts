/** How far big uploads raise the peak memory of a server that has already worked. */
import { join } from 'node:path'
import { chance } from '../support/chance.ts'
import { readBack, uploadResult } from '../support/clients/caller.ts'
import { openUpload } from '../support/network/raw-upload.ts'
import {
  addAccount,
  type ChildServer,
  type ChildSettings,
  startChild,
  temporaryFolder,
} from '../support/processes/child.ts'
import { startCeph } from '../support/storage/ceph.ts'
import { megabytes, processFigures, resetPeak } from './process-figures.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
const BIG_UPLOAD_LIMIT = 64 * MIB
const BIG_UPLOAD_TO_S3_LIMIT = 128 * MIB
const MANY_UPLOADS_LIMIT = 128 * MIB
const UPLOAD_SIZE = 100 * MIB
/** What a warm server has done before. */
const WARMING = { size: GIB, count: 16, countSize: 8 * MIB }

/** One upload of so many GB; its peak may be 64 MB over that of the warm server. The bytes are read back. */
export async function bigUpload(gigabytes: number): Promise<string> {
  return withWarmServer({}, (server, key, warm) =>
    bigUploadTo(server, key, warm, gigabytes, BIG_UPLOAD_LIMIT),
  )
}

/** The same through a node to an S3 store; its peak may be 128 MB over that of the warm server. */
export async function bigUploadToS3(gigabytes: number): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const ceph = stack.adopt(await startCeph({ onDisk: true }), (it) => it.stop())
  const settings = {
    S3_ENDPOINT: ceph.endpoint,
    S3_BUCKET: 'holdfast-memory',
    S3_REGION: ceph.region,
    S3_ACCESS_KEY_ID: ceph.accessKeyId,
    S3_SECRET_ACCESS_KEY: ceph.secretAccessKey,
    S3_PATH_STYLE: 'true',
  }
  return await withWarmServer(settings, (server, key, warm) =>
    bigUploadTo(server, key, warm, gigabytes, BIG_UPLOAD_TO_S3_LIMIT),
  )
}

async function bigUploadTo(
  server: ChildServer,
  key: string,
  warm: number,
  gigabytes: number,
  limit: number,
): Promise<string> {
  const begin = performance.now()
  const { slug, sha256 } = await upload(server, key, gigabytes * GIB, 2)
  const rate = (gigabytes * GIB) / ((performance.now() - begin) / 1000)
  const figures = judge(server, warm, limit)
  const read = await readBack(server.url, slug)
  if (read.sha256 !== sha256) throw new Error('the upload reads back with another hash')
  return `${figures}; ${megabytes(rate)}/s; after reading it back ${megabytes(processFigures(server.pid).peak)}`
}

/** So many uploads of 100 MB at once; their peak may be 128 MB over that of the warm server. */
export async function manyUploads(count: number): Promise<string> {
  return withWarmServer({}, async (server, key, warm) => {
    const begin = performance.now()
    await Promise.all(
      Array.from({ length: count }, (_, number) => upload(server, key, UPLOAD_SIZE, number + 2)),
    )
    const rate = (count * UPLOAD_SIZE) / ((performance.now() - begin) / 1000)
    return `${judge(server, warm, MANY_UPLOADS_LIMIT)}; ${megabytes(rate)}/s`
  })
}

/** The figures as text. Throws when the peak rose by more than the limit. */
function judge(server: ChildServer, warm: number, limit: number): string {
  const { peak } = processFigures(server.pid)
  const text = `warm ${megabytes(warm)}, peak ${megabytes(peak)}, raised by ${megabytes(peak - warm)}`
  if (peak - warm > limit) throw new Error(`${text}, allowed are ${megabytes(limit)}`)
  return text
}

export async function withWarmServer(
  settings: ChildSettings,
  measure: (server: ChildServer, key: string, warm: number) => Promise<string>,
): Promise<string> {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const { apiKey: key } = await addAccount(dataDir, 'memory')
  await using server = await startChild(dataDir, {
    STORAGE_LIMIT: '100GB',
    RATE_LIMIT: '1000000',
    ...settings,
  })
  await upload(server, key, WARMING.size, 1)
  await Promise.all(
    Array.from({ length: WARMING.count }, (_, number) =>
      upload(server, key, WARMING.countSize, 1000 + number),
    ),
  )
  await Bun.sleep(3000)
  resetPeak(server.pid)
  const figures = await measure(server, key, processFigures(server.pid).peak)
  await server.stop()
  return figures
}

/** Streams an upload of which no more than one piece is in memory; no two numbers give the same content. */
async function upload(server: ChildServer, key: string, size: number, number: number) {
  const raw = await openUpload(server.url, { key, size, name: `upload-${number}.bin` })
  const hash = new Bun.CryptoHasher('sha256')
  const piece = chance(1).bytes(MIB)
  const words = new DataView(piece.buffer)
  for (let sent = 0; sent < size; sent += piece.length) {
    words.setUint32(0, number)
    words.setUint32(4, sent / MIB)
    hash.update(piece)
    await raw.send(piece)
  }
  const { status, body } = await raw.finish()
  if (status !== 200) throw new Error(`an upload of ${megabytes(size)} was answered ${status}: ${body}`)
  const uploaded = uploadResult.parse(JSON.parse(body))
  if (uploaded.sha256 !== hash.digest('hex')) throw new Error('an upload was acknowledged with another hash')
  return uploaded
}
