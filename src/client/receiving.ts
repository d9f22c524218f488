import { appendFile, mkdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { chunksUnlessAborted } from '../domain/abort.ts'
import { SECOND } from '../domain/clock.ts'
import type { ContributionItem } from './answers.ts'
import type { Api } from './api.ts'
import {
  arrivingPart,
  type DownloadParts,
  type DownloadResult,
  downloadArriving,
  downloadFile,
  type Wanted,
} from './downloading.ts'
import { isAnswer } from './failure.ts'
import { asConnectionErrors, idleTimeout, type RemoteServer, sendRequest } from './http.ts'
import { localName } from './places.ts'
import type { PublicClient } from './public-client.ts'

export interface ReceiveParts extends DownloadParts {
  readonly api: Api
  readonly client: PublicClient
  readonly received: ReceivedFilesLog
}

export interface ReceiveOptions {
  readonly link: string
  readonly from: string
  /** Subfolders are created below it. */
  readonly output: string
  /** End once something has come and nothing is being uploaded. */
  readonly once: boolean
  readonly width: number
}

export type ReceiveResult = { readonly sent: ContributionItem } & (
  | { readonly file: DownloadResult }
  | { readonly error: unknown }
)

/** The event stream does not announce running uploads. */
const LOOK_EVERY = 30 * SECOND
/** However many events come: each poll costs requests of the key's limit. */
const LOOK_AT_MOST = 2 * SECOND

/** Includes files that an earlier run missed. Ends when the link has ended and nothing is being uploaded. */
export async function receiveAll(
  parts: ReceiveParts,
  wanted: ReceiveOptions,
  tell: (arrived: ReceiveResult) => void,
): Promise<void> {
  const { api, received } = parts
  const queue: ContributionItem[] = []
  const begun = new Set<string>()
  const running = new Set<Promise<void>>()
  const bell = createBell()
  const stop = new AbortController()
  const pause = (milliseconds: number) => pauseUnlessAborted(stop.signal, milliseconds)
  const below = createPlacesBelow(api, wanted.from)
  let hasCome = false

  async function look(): Promise<{ readonly isOver: boolean; readonly others: number }> {
    const { state } = await api.link(wanted.link)
    let others = 0
    for await (const item of api.contributions(wanted.link)) {
      const uuid = item.file?.uuid ?? item.arriving?.uuid
      // A one-request upload is visible only when it is whole.
      if (uuid === undefined) others += 1
      else if (!received.has(uuid) && !begun.has(uuid)) {
        begun.add(uuid)
        queue.push(item)
      }
    }
    return { isOver: state !== 'live', others }
  }

  async function receive(sent: ContributionItem): Promise<void> {
    try {
      const file = await receiveOne(parts, wanted, below, sent)
      if (file === null) return
      hasCome = true
      tell({ sent, file })
    } catch (error) {
      hasCome = true
      tell({ sent, error })
    }
  }

  function work(): void {
    while (running.size < wanted.width) {
      const sent = queue.shift()
      if (sent === undefined) return
      const job = receive(sent).finally(() => {
        running.delete(job)
        if (running.size === 0 || queue.length > 0) bell.ring()
      })
      running.add(job)
    }
  }

  const listening = listen(parts, stop.signal, bell.ring)
  try {
    for (;;) {
      const heard = bell.next()
      const rest = pause(LOOK_AT_MOST)
      const { isOver, others } = await look()
      work()
      while (queue.length > 0) {
        await Promise.race(running)
        work()
      }
      const isQuiet = running.size === 0 && others === 0
      if (isQuiet && (isOver || (wanted.once && hasCome))) return
      await Promise.race([heard, pause(LOOK_EVERY)])
      await rest
    }
  } finally {
    stop.abort()
    await listening
  }
}

interface Bell {
  readonly ring: () => void
  next(): Promise<void>
}

function createBell(): Bell {
  let waiting = Promise.withResolvers<void>()
  return {
    ring() {
      waiting.resolve()
      waiting = Promise.withResolvers()
    },
    next: () => waiting.promise,
  }
}

/** A pending timer would keep the process alive. */
async function pauseUnlessAborted(signal: AbortSignal, milliseconds: number): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {})
}

/** Rings at events of a link. Without an event stream, polling has to do. */
async function listen(
  { api }: Pick<ReceiveParts, 'api'>,
  signal: AbortSignal,
  ring: () => void,
): Promise<void> {
  while (!signal.aborted) {
    await watchEvents(api.server, signal, (event) => {
      if (event === 'link' || event === 'reload') ring()
    }).catch(() => {})
    await pauseUnlessAborted(signal, LOOK_AT_MOST)
  }
}

/** Null for a file that was withdrawn, or an upload that was given up. */
async function receiveOne(
  parts: ReceiveParts,
  { output }: ReceiveOptions,
  below: (folder: string) => Promise<readonly string[]>,
  { file, arriving }: ContributionItem,
): Promise<DownloadResult | null> {
  const { api, client, received } = parts
  const uuid = file?.uuid ?? arriving?.uuid ?? ''
  if (file === null && arriving != null) {
    await mkdir(output, { recursive: true })
    const bytes = (from: number, signal: AbortSignal) => client.arriving(arriving.slug, from, signal)
    if (!(await downloadArriving({ ...parts, folder: output }, { slug: arriving.slug, bytes }))) return null
  }
  const detail = await api.file(uuid).catch(nullIfGone)
  if (detail === null) return null
  const { slug, name, folder_id } = detail
  const folder = join(output, ...(await below(folder_id)))
  if (folder !== output) {
    await mkdir(folder, { recursive: true })
    // The file's folder is known only now.
    await rename(arrivingPart(output, { slug }), arrivingPart(folder, { slug })).catch(() => {})
  }
  const downloaded = await downloadFile(parts, fileWanted(client, slug, name, folder))
  await received.add(uuid)
  return downloaded
}

function nullIfGone(error: unknown): null {
  if (isAnswer(error, 404, 'FILE_NOT_FOUND')) return null
  throw error
}

function createPlacesBelow(
  api: Pick<Api, 'folder'>,
  top: string,
): (folder: string) => Promise<readonly string[]> {
  const known = new Map<string, Promise<readonly string[]>>()

  async function find(folder: string): Promise<readonly string[]> {
    if (folder === top || folder === 'root') return []
    const { name, path } = await api.folder(folder)
    const at = path.findIndex(({ id }) => id === top)
    return at === -1
      ? []
      : [...path.slice(at + 1).map((above) => above.name), name].map((each) => localName(each))
  }

  return (folder) => {
    const names = known.get(folder) ?? find(folder)
    known.set(folder, names)
    return names
  }
}

/** The server sends a comment every 15 seconds. */
const QUIET = 60 * SECOND

/** Until the signal is aborted or the stream ends. Throws AnswerError, or ConnectionError when it breaks. */
async function watchEvents(
  server: RemoteServer,
  signal: AbortSignal,
  told: (event: string) => void,
): Promise<void> {
  const idle = idleTimeout(QUIET)
  const either = AbortSignal.any([signal, idle.signal])
  try {
    const response = await sendRequest(server, {
      method: 'GET',
      path: '/api/v1/events',
      signal: either,
      isAlone: true,
    })
    const { body } = response
    if (body === null) return
    const decoder = new TextDecoder()
    let line = ''
    await asConnectionErrors(server.url, async () => {
      for await (const bytes of chunksUnlessAborted(either, body)) {
        idle.restart()
        const lines = (line + decoder.decode(bytes, { stream: true })).split('\n')
        line = lines.pop() ?? ''
        for (const each of lines) {
          const [, event] = /^event: ?(\S+)/.exec(each) ?? []
          if (event !== undefined) told(event)
        }
      }
    })
  } finally {
    idle.stop()
  }
}

export interface ReceivedFilesLog {
  has(file: string): boolean
  /** Call once the file has its name and is durable. */
  add(file: string): Promise<void>
}

/** `folder`: the user's state. `into`: the absolute local folder. */
export async function openReceivedFiles(
  folder: string,
  { link, into }: { readonly link: string; readonly into: string },
): Promise<ReceivedFilesLog> {
  const name = new Bun.CryptoHasher('sha256').update(JSON.stringify([link, into])).digest('hex')
  const path = join(folder, 'holdfast', 'received', name)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // A truncated last line names no file: that file is recognized by its content.
  const files = new Set((await readFile(path, 'utf8').catch(() => '')).split('\n'))
  return {
    has: (file) => files.has(file),
    async add(file) {
      files.add(file)
      await appendFile(path, `\n${file}\n`, { mode: 0o600, flush: true })
    },
  }
}

/** Also while the file is being uploaded. Without `name`, the server names it. */
export function fileWanted(client: PublicClient, slug: string, name: string | null, folder: string): Wanted {
  return {
    async address() {
      const signed = await client.sign(slug)
      if (signed === null) return null
      const { server, file, token } = signed
      const url = `${server}/v2/${file}?token=${encodeURIComponent(token)}&download=true`
      return { url, headers: {} }
    },
    arriving: { slug, bytes: (from, signal) => client.arriving(slug, from, signal) },
    name,
    folder,
  }
}
