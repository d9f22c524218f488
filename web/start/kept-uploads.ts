import Uppy, { type UppyFile } from '@uppy/core'
import GoldenRetriever from '@uppy/golden-retriever'
import Tus, { type TusBody } from '@uppy/tus'
import { answerOf, RequestFailure } from './answers.ts'
import { type ChunkSize, chunkedReader } from './chunk-size.ts'
import { hasLeft } from './left.ts'
import type { Created } from './server.ts'

/** An upload as it outlives the page. */
export interface KeptUpload {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly size: number
  /** Milliseconds since 1970; with name and size it tells one file from another. */
  readonly lastModified: number
  readonly path: string | null
  /** The folder that it goes to; null for the top level, or where there are no folders. */
  readonly folder: string | null
  /** Null as long as the server does not know of it. */
  readonly created: Created | null
  readonly isPaused: boolean
  /** Null when the browser has lost hold of it. */
  readonly file: Blob | null
  readonly sent: number
}

/** The unfinished uploads of this window, which outlive it: Uppy's state, with the files that are small enough. */
export interface KeptUploads {
  list(): readonly KeptUpload[]
  find(id: string): KeptUpload | null
  /** Null when just this file is being uploaded already. */
  add(file: File, path: string | null, folder: string | null): KeptUpload | null
  /** The same with one that was begun elsewhere. */
  takeOver(file: File, created: Created): KeptUpload | null
  /** Gives an upload its file back. */
  give(id: string, file: Blob): void
  setCreated(id: string, created: Created | null): void
  setPaused(id: string, isPaused: boolean): void
  /** It is done, or nobody wants it any more. What has arrived at the server is not touched. */
  remove(id: string): void
  /**
   * Sends what the server has not got, and resolves when it has all of it, or `signal` was aborted. Throws
   * RequestFailure.
   */
  send(id: string, signal: AbortSignal, onSent: (bytes: number) => void): Promise<void>
}

type Meta = {
  lastModified: number
  path: string | null
  folder: string | null
  created: Created | null
}

/** Files up to this size are kept by the browser, so that they go on by themselves after a reload. */
const FILE_KEPT = 64 * 1024 ** 2
const ALL_KEPT = 512 * 1024 ** 2

/** Nothing has gone off for so long: the connection is taken for dead. */
const QUIET = 60_000

const silent = { debug() {}, warn() {}, error() {} }

export async function openKeptUploads(parts: {
  readonly window: string
  readonly chunks: ChunkSize
  readonly headers: Readonly<Record<string, string>>
  readonly parallel: number
}): Promise<KeptUploads> {
  const uppy = new Uppy<Meta, TusBody>({ id: parts.window, logger: silent })
  // When to try again is decided by whoever calls `send`, for all uploads together.
  uppy.use(Tus, {
    limit: parts.parallel,
    headers: { ...parts.headers },
    fileReader: chunkedReader(parts.chunks),
    storeFingerprintForResuming: false,
    allowedMetaFields: [],
    retryDelays: [],
  })
  await restore(uppy, parts.window)

  /** Ends the sending without a word to the server. */
  function stop(id: string): void {
    const tus = uppy.getPlugin('Tus')
    const { isPaused = false } = uppy.getFile(id) ?? {}
    if (!tus?.uploaders[id]) return
    // Pausing gives its place in the plugin's queue back.
    if (!isPaused) uppy.pauseResume(id)
    tus.uploaders[id] = null
    tus.uploaderEvents[id]?.remove()
    tus.uploaderEvents[id] = null
    uppy.setFileState(id, { isPaused })
  }

  /** By `relativePath` Uppy tells a file from the same one elsewhere. */
  function addFile(
    file: File,
    meta: Omit<Meta, 'lastModified'> & { readonly relativePath?: string },
  ): KeptUpload | null {
    const { name, type, lastModified } = file
    try {
      const id = uppy.addFile({ name, type, data: file, meta: { lastModified, ...meta } })
      return toKept(uppy.getFile(id))
    } catch {
      return null
    }
  }

  function setCreated(id: string, created: Created | null): void {
    const { meta } = uppy.getFile(id)
    uppy.setFileState(id, { meta: { ...meta, created }, tus: { uploadUrl: created?.address ?? null } })
  }

  return {
    list: () => uppy.getFiles().map(toKept),

    find(id) {
      const file = uppy.getState().files[id]
      return file === undefined ? null : toKept(file)
    },

    add: (file, path, folder) => addFile(file, { path, folder, created: null, ...distinction(path, folder) }),

    takeOver(file, created) {
      const upload = addFile(file, { path: null, folder: null, created: null, relativePath: created.address })
      if (upload !== null) setCreated(upload.id, created)
      return upload
    },

    give(id, file) {
      uppy.setFileState(id, { data: file, isGhost: false })
    },

    setCreated,

    setPaused(id, isPaused) {
      uppy.setFileState(id, { isPaused })
    },

    remove(id) {
      stop(id)
      uppy.removeFile(id)
    },

    send(id, signal, onSent) {
      return new Promise((resolve, reject) => {
        let timer = setTimeout(expire, QUIET)
        function expire(): void {
          stop(id)
          end(() => reject(new RequestFailure(null)))
        }
        function halt(): void {
          stop(id)
          end(resolve)
        }
        function end(then: () => void): void {
          clearTimeout(timer)
          signal.removeEventListener('abort', halt)
          removeEventListener('offline', expire)
          uppy.off('upload-progress', onProgress)
          uppy.off('upload-success', onSuccess)
          uppy.off('upload-error', onError)
          then()
        }
        const onProgress: Progress = (file, { bytesUploaded }) => {
          if (file?.id !== id) return
          clearTimeout(timer)
          timer = setTimeout(expire, QUIET)
          onSent(bytesUploaded)
        }
        const onSuccess: Success = (file) => {
          if (file?.id === id) end(resolve)
        }
        const onError: Failure = (file, _, response) => {
          if (file?.id === id) end(() => reject(failureOf(response)))
        }
        uppy.on('upload-progress', onProgress)
        uppy.on('upload-success', onSuccess)
        uppy.on('upload-error', onError)
        signal.addEventListener('abort', halt)
        // What is under way then would be noticed to be lost only much later.
        addEventListener('offline', expire)
        uppy.retryUpload(id).catch(() => end(() => reject(new RequestFailure(null))))
      })
    },
  }
}

/** The same file may go to several folders. */
function distinction(path: string | null, folder: string | null): { relativePath?: string } {
  if (folder === null) return path === null ? {} : { relativePath: path }
  return { relativePath: `${folder}/${path ?? ''}` }
}

type UppyUpload = UppyFile<Meta, TusBody>
type Progress = (file: UppyUpload | undefined, progress: { readonly bytesUploaded: number }) => void
type Success = (file: UppyUpload | undefined) => void
type Failure = (file: UppyUpload | undefined, error: unknown, response?: FailedResponse) => void
interface FailedResponse {
  readonly status: number
  readonly body?: TusBody
}

function failureOf(response: FailedResponse | undefined): RequestFailure {
  // A status of success is no tus: something else has answered.
  if (response === undefined || response.status < 300) return new RequestFailure(null)
  const xhr = response.body?.xhr
  return new RequestFailure(
    answerOf(response.status, xhr?.responseText ?? '', xhr?.getResponseHeader('retry-after') ?? null),
  )
}

function toKept(file: UppyUpload): KeptUpload {
  const { id, name, type, size, meta, isPaused = false, isGhost, data, progress } = file
  return {
    id,
    name,
    type,
    size: size ?? 0,
    lastModified: meta.lastModified,
    path: meta.path,
    folder: meta.folder,
    created: meta.created,
    isPaused,
    file: !isGhost && data instanceof Blob ? data : null,
    sent: progress.bytesUploaded || 0,
  }
}

/** Loads what an earlier page left. What is added before the plugin restores something would be lost. */
async function restore(uppy: Uppy<Meta, TusBody>, window: string): Promise<void> {
  const isLeft = await hasLeft(window)
  const restored = new Promise<void>((resolve) => {
    uppy.once('restored', () => resolve())
    setTimeout(resolve, isLeft ? LONGEST_RESTORE : 0)
  })
  const limits = { name: window, maxFileSize: FILE_KEPT, maxTotalSize: ALL_KEPT }
  uppy.use(GoldenRetriever, { expires: KEPT, indexedDB: limits })
  await restored
  // Which batches the files were in is of no use: each is sent by itself.
  if (isLeft) uppy.setState({ currentUploads: {}, recoveredState: null })
}

/** As long as the server keeps what has arrived, if nobody has told it otherwise. */
const KEPT = 24 * 60 * 60 * 1000
const LONGEST_RESTORE = 5000
