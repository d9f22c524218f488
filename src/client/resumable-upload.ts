import type { Uploaded } from './answers.ts'
import { type ChunkSize, isProxyLimit } from './chunk-size.ts'
import { ConnectionError, UploadGivenUp } from './failure.ts'
import type { RemoteServer } from './http.ts'
import { FileChanged, type OpenFile } from './local-file.ts'
import { nextRequest, TRANSFER } from './policy/upload-policy.ts'
import type { Retries } from './retries.ts'
import {
  appendChunk,
  type Chunk,
  createRemoteUpload,
  fetchUploadStatus,
  type RemoteUpload,
  terminateUpload,
  type UploadPath,
  uploadOffset,
  uploadOffsetAndBefore,
} from './tus.ts'
import type { UploadJob, UploadParts } from './upload-job.ts'

/** `begun`: an earlier run's upload; begins anew where that is gone. */
export async function uploadResumably(
  parts: UploadParts,
  job: UploadJob,
  begun: RemoteUpload | null,
): Promise<Uploaded> {
  const { server, retries, states, chunkSize, watch } = parts
  const { opened, file, place, id, transfer } = job
  let upload = begun
  let offset = 0
  let isNew = false
  let isCompared = begun === null

  const reached = (position: number) => {
    offset = position
    transfer.at(position)
  }

  async function begin(): Promise<RemoteUpload> {
    const wanted = { name: file.name, size: file.size, place }
    const { path, receipt, url } = await createRemoteUpload(server, wanted)
    await states.write(id, { kind: 'resumable', upload: path, receipt }, true)
    // Recipients may have the link before the whole is sent.
    if (url !== null && file.size > chunkSize.current())
      watch.say(`${file.shown} has its link already: ${url}`)
    reached(0)
    isNew = true
    return { path, receipt }
  }

  async function forget(): Promise<void> {
    upload = null
    await states.remove(id)
  }

  async function attempt(): Promise<Uploaded> {
    await opened.assertUnchanged()
    upload ??= await begin()
    if (!isNew) {
      const kept = await uploadOffsetAndBefore(server, upload.path, !isCompared)
      const isOther = kept !== null && !(await opened.continues(kept.offset, kept.before))
      // Its bytes are of the file before a change.
      if (isOther) await terminateUpload(server, upload.path)
      if (kept === null || isOther) {
        await forget()
        isCompared = true
        return attempt()
      }
      reached(kept.offset)
    }
    isNew = false
    isCompared = true
    while (offset < file.size) {
      const { length, isLast } = nextRequest(file.size - offset, chunkSize.current())
      const isUnread = !isLast && passesFiles(server) && chunkSize.isSoonOver(length)
      const sent = isUnread
        ? sendUnread(parts, upload.path, opened, { offset, length })
        : sendChunk(server, upload.path, isLast ? await lastChunk(length) : chunkOf(length), chunkSize)
      reached(await sent)
      if (!isLast) await opened.assertUnchanged()
    }
    return untilStored(server, upload, retries)
  }

  function chunkOf(length: number): Chunk {
    const start = offset
    return {
      offset: start,
      length,
      body: (stir) => {
        let sent = start
        return opened.stream(start, start + length, (bytes) => {
          sent += bytes
          stir()
          transfer.at(sent)
        })
      },
    }
  }

  /** The bytes that store the file: in memory before its last check for changes. */
  async function lastChunk(length: number): Promise<Chunk> {
    const bytes = await opened.bytes(offset, offset + length)
    await opened.assertUnchanged()
    return { offset, length, body: () => bytes }
  }

  try {
    return await retries.persist(TRANSFER, attempt, () => offset)
  } catch (error) {
    if (error instanceof FileChanged && upload !== null) {
      // If the server cannot be reached, the upload expires.
      await terminateUpload(server, upload.path).catch(() => {})
      await forget()
    }
    throw error
  }
}

/** The kernel sends the bytes while this process hashes them. Progress is unknown until all have arrived. */
async function sendUnread(
  { server, chunkSize }: UploadParts,
  upload: UploadPath,
  opened: OpenFile,
  { offset, length }: Pick<Chunk, 'offset' | 'length'>,
): Promise<number> {
  const end = offset + length
  const [sent, hashed] = await Promise.allSettled([
    sendChunk(server, upload, { offset, length, body: () => opened.range(offset, end) }, chunkSize),
    opened.hashUpTo(end),
  ])
  if (sent.status === 'rejected') throw sent.reason
  if (hashed.status === 'rejected') throw hashed.reason
  return sent.value
}

/** Whether the kernel can send the file: see `OpenFile.range`. */
function passesFiles({ url }: RemoteServer): boolean {
  const { HTTP_PROXY, http_proxy } = process.env
  return url.startsWith('http://') && !HTTP_PROXY && !http_proxy
}

/** Also finds out what arrived of a chunk that a proxy refused as too large. Returns the new offset. */
export async function sendChunk(
  server: RemoteServer,
  upload: UploadPath,
  chunk: Chunk,
  chunkSize: ChunkSize,
): Promise<number> {
  const began = performance.now()
  try {
    const offset = await appendChunk(server, upload, chunk)
    chunkSize.arrived(chunk.length, performance.now() - began)
    if (offset > chunk.offset || chunk.length === 0) return offset
    throw new ConnectionError(`${server.url} keeps nothing of what is sent`, {
      passes: true,
      isUnsent: false,
    })
  } catch (error) {
    chunkSize.failed()
    if (!isProxyLimit(error)) throw error
    chunkSize.refused(chunk.length)
    return (await uploadOffset(server, upload)) ?? chunk.offset
  }
}

const OFTEN = 100
const SELDOM = 2000

export async function untilStored(
  server: RemoteServer,
  { path, receipt }: RemoteUpload,
  retries: Retries,
): Promise<Uploaded> {
  for (let pause = OFTEN; ; pause = Math.min(SELDOM, pause * 2)) {
    const state = await retries.persist(TRANSFER, () => fetchUploadStatus(server, path))
    switch (state?.status) {
      case 'completed':
        return receipt === null ? state.result : { ...state.result, receipt }
      case 'failed':
        throw new UploadGivenUp(`the server could not store it: ${state.message}`)
      case undefined:
        throw new UploadGivenUp('the server has lost the upload')
      case 'uploading':
        throw new ConnectionError('the server waits for more of the file', { passes: true, isUnsent: false })
      case 'processing':
        await Bun.sleep(pause)
    }
  }
}
