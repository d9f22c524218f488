import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import type { MadeTransfer, Uploaded } from '../client/answers.ts'
import { createApi } from '../client/api.ts'
import { createChunkSize } from '../client/chunk-size.ts'
import { ClientError, plainLines } from '../client/failure.ts'
import { type FoundEntry, findFiles } from '../client/find-files.ts'
import type { NamedInput } from '../client/local-file.ts'
import { mapConcurrently } from '../client/map-concurrently.ts'
import { CONNECTIONS, connectionsEach, mayGoInParts } from '../client/policy/upload-policy.ts'
import { createKeptReceipts, receiptAddress } from '../client/receipts.ts'
import { parseRemoteName, RemoteTree } from '../client/remote-tree.ts'
import { uploadStream } from '../client/stream-upload.ts'
import { openTransfer, type WantedTransfer } from '../client/transfers.ts'
import { RemoteLine, type UploadParts } from '../client/upload-job.ts'
import { placeName, TOP_LEVEL, type UploadPlace } from '../client/upload-place.ts'
import {
  createUploadStates,
  type LocalUploadId,
  transferId,
  type UploadDestination,
  uploadId,
} from '../client/upload-states.ts'
import { uploadLocalFile } from '../client/uploading.ts'
import type { Environment } from '../config/environment.ts'
import { systemClock, timestamp } from '../domain/clock.ts'
import { explain } from './failure.ts'
import { readChunkSize, readCount, readExpiry, readParallel } from './options.ts'
import { count, printJson, printLines, printProblem } from './output.ts'
import { barProgress, plainProgress, type ShownProgress } from './progress-bars.ts'
import {
  asClient,
  asLocalFailure,
  type ClientSession,
  notLoggedIn,
  openLogins,
  openSession,
  type ServerOption,
  stateFolder,
} from './session.ts'

interface Options extends ServerOption {
  readonly folder?: string
  readonly guest?: true
  readonly parallel: number
  readonly chunkSize?: number
  readonly name?: string
  readonly each?: true
  /** Milliseconds since the epoch. */
  readonly until?: number
  readonly downloads?: number
  readonly password?: string
  readonly message?: string
  readonly json?: true
}

/** Resumes when run again. */
export function uploadCommand(upload: Command, environment: Environment): void {
  upload
    .alias('put')
    .description(
      'upload files and folders, and print a link: one for all of it; run again, it goes on where it stopped',
    )
    .argument('<path...>', 'files and folders; - reads standard input')
    .option(
      '--folder <folder>',
      'the folder to upload into: an identifier, a link or a path such as /photos/2026',
    )
    .option('--guest', 'without an account')
    .option('--parallel <number>', 'files sent at once', readParallel, 8)
    .option(
      '--chunk-size <size>',
      'bytes in one request, such as 16MB; by default what suits the connection',
      readChunkSize,
    )
    .option('--each', 'a link for each file, and folders at the top level, instead of one link for all')
    .option(
      '--name <name>',
      'a title for the link; of standard input the file name, by default one that fits its content',
    )
    .option('--until <when>', 'when the link ends: after a number of days (7d), or on a date', (text) =>
      readExpiry(text, systemClock.now()),
    )
    .option('--downloads <number>', 'how many may download it; 1: it is over after the first', readCount)
    .option('--password <password>', 'the password that others need to open it')
    .option('--message <text>', 'what the page of the link says')
    .option('--json', 'print one JSON object a line')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((paths: string[], options: Options) => {
      if (paths.includes('-') && paths.length > 1) {
        upload.error('error: standard input (-) cannot be uploaded together with other paths.')
      }
      if (options.guest && options.folder !== undefined) {
        upload.error('error: guests have no folders; leave out --folder or --guest.')
      }
      const hasOwnLinks = options.folder !== undefined || options.each || paths.includes('-')
      if (hasOwnLinks && hasTerms(options)) {
        upload.error(
          'error: --until, --downloads, --password and --message are for one link for all; leave out --each, --folder and -.',
        )
      }
      return asClient(() => run(environment, paths, options))
    })
}

async function run(environment: Environment, paths: readonly string[], options: Options): Promise<void> {
  const watch = process.stderr.isTTY
    ? await barProgress({ stream: process.stderr, clock: systemClock })
    : plainProgress((text) => process.stderr.write(plainLines(text)))
  try {
    const session = await openSession(environment, options, watch.say)
    const line = new RemoteLine(session.server)
    // While the account is being asked.
    if (await areLarge(paths)) void line.isLong()
    const command = await begin(environment, session, options, watch, line)
    if (paths[0] === '-') await uploadInput(command, options)
    else await uploadAll(command, paths, options)
  } finally {
    watch.end()
  }
}

/** Whether a file named as an argument may use several connections. */
async function areLarge(paths: readonly string[]): Promise<boolean> {
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => null)))
  return found.some((each) => each?.isFile() && mayGoInParts(each.size, CONNECTIONS))
}

interface UploadCommand {
  readonly parts: UploadParts
  readonly watch: ShownProgress
  readonly environment: Environment
  /** Null for a guest. */
  readonly tree: RemoteTree | null
  readonly destination: UploadDestination
}

async function begin(
  environment: Environment,
  { server, retries }: ClientSession,
  { guest, folder, chunkSize }: Options,
  watch: ShownProgress,
  line: RemoteLine,
): Promise<UploadCommand> {
  const { url } = server
  const states = createUploadStates(stateFolder(environment))
  await states.removeOld(systemClock.now())
  const shared = {
    retries,
    states,
    chunkSize: createChunkSize(chunkSize ?? null, watch.say),
    watch,
    line,
    connections: 1,
  }
  if (guest) {
    const parts = { ...shared, server: { url, key: null } }
    return {
      parts,
      watch,
      environment,
      tree: null,
      destination: { server: url, account: null, place: TOP_LEVEL },
    }
  }
  if (server.key === null) throw notLoggedIn(url, ', or upload as a guest with --guest')
  const api = createApi(server, retries, true)
  const login = await openLogins(environment).at(url)
  const account = login?.api_key === server.key ? login.account_id : (await api.account()).id
  const tree = new RemoteTree(api)
  const into = folder === undefined ? 'root' : await tree.folder(parseRemoteName(folder))
  const destination = { server: url, account, place: { kind: 'folder', folder: into } } as const
  return { parts: { ...shared, server }, watch, environment, tree, destination }
}

/** The table of types loads only for an input without a name. */
async function inputNamed(stream: AsyncIterable<Uint8Array>): Promise<NamedInput> {
  const { namedInput } = await import('../client/local-file.ts')
  return namedInput(stream)
}

async function uploadInput(command: UploadCommand, options: Options): Promise<void> {
  const { parts, destination, watch } = command
  const input = Bun.stdin.stream()
  const { name, content } =
    options.name === undefined ? await inputNamed(input) : { name: options.name, content: input }
  const transfer = watch.begin(name, null, 0)
  const { server, retries, chunkSize } = parts
  const { place } = destination
  const result = await uploadStream(content, { server, retries, chunkSize, transfer, name, place }).finally(
    () => transfer.end(),
  )
  await keepReceipt(command, name, result)
  watch.aside(() => print({ path: '-', result }, options, null))
}

/** A guest's receipt allows changing and deleting the file: print its page, but not among the links. */
async function keepReceipt(
  { parts, environment, watch }: Pick<UploadCommand, 'parts' | 'environment' | 'watch'>,
  name: string,
  { receipt, url, size }: Uploaded,
): Promise<void> {
  if (receipt === undefined) return
  const { url: server } = parts.server
  const kept = { server, receipt, url, name, size, uploaded_at: systemClock.now() }
  await createKeptReceipts(stateFolder(environment)).keep(kept)
  watch.say(`${name}: rename, keep or delete it at ${receiptAddress(kept)}`)
}

type Outcome =
  | { readonly path: string; readonly result: Uploaded }
  | { readonly path: string; readonly error: unknown }
  | null

async function uploadAll(command: UploadCommand, paths: readonly string[], options: Options): Promise<void> {
  const { watch, environment, parts, destination } = command
  const leave = (path: string) => watch.say(`left out, being neither a file nor a folder: ${path}`)
  const found = await Array.fromAsync(findFiles(paths, leave))
  const files = found.flatMap((item) => (item.kind === 'file' ? [item.file] : []))
  const unreadable = found.filter(({ kind }) => kind === 'failure').length
  if (files.length === 0 && destination.account === null && unreadable === 0) {
    throw new ClientError('there is no file to upload.')
  }
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  watch.expect(files.length, bytes)
  const shared =
    files.length > 0 && hasOneLink(found, options)
      ? await begun(command, paths, found, { ...termsOf(options), files: files.length + unreadable, bytes })
      : null
  const connections = connectionsEach(Math.min(files.length, options.parallel))
  const each = { ...command, parts: { ...parts, connections }, shared }
  const done: string[] = []
  let failed = 0
  await mapConcurrently(
    inOrder(found),
    options.parallel,
    (item) => uploadOne(each, item, done),
    (outcome) => {
      if (outcome === null) return
      if ('error' in outcome) failed += 1
      watch.aside(() => print(outcome, options, shared?.made.url ?? null, environment))
    },
  )
  if (failed > 0) {
    throw new ClientError(
      `${failed} of ${count(files.length + unreadable, 'file')} could not be uploaded; the same command, run again, goes on with them.`,
    )
  }
  const link = shared?.made.url
  if (link !== undefined && !options.json) watch.aside(() => printLines(link))
  // States are removed last, so that a repeated command prints the links of uploads that an interrupted one had
  // finished.
  for (const id of done) await parts.states.remove(id)
  if (shared !== null) await parts.states.remove(shared.id)
}

function hasTerms({ until, downloads, password, message }: Options): boolean {
  return [until, downloads, password, message].some((term) => term !== undefined)
}

/** One file without terms has its own link already. */
function hasOneLink(found: readonly FoundEntry[], options: Options): boolean {
  if (options.folder !== undefined || options.each) return false
  const [only] = found
  const isOneFile = found.length === 1 && only?.kind === 'file' && only.folders.length === 0
  return !isOneFile || hasTerms(options) || options.name !== undefined
}

/** The folder in which everything is: the transfer is that folder. */
function onlyFolder(found: readonly FoundEntry[]): string | null {
  const names = new Set(found.map((item) => (item.kind === 'failure' ? undefined : item.folders[0])))
  const [name] = names
  return names.size === 1 && name !== undefined ? name : null
}

function termsOf({
  name,
  until,
  downloads,
  password,
  message,
}: Options): Omit<WantedTransfer, 'files' | 'bytes'> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(until === undefined ? {} : { ends_at: timestamp(until) }),
    ...(downloads === undefined ? {} : { max_downloads: downloads }),
    ...(password === undefined ? {} : { password }),
    ...(message === undefined ? {} : { message }),
  }
}

interface SharedTransfer {
  readonly id: LocalUploadId
  readonly made: MadeTransfer
  /** Names of a path that stand for the transfer itself. */
  readonly own: number
}

/** Its link opens what is there already, so it is told at once. */
async function begun(
  { parts, destination, watch, environment }: UploadCommand,
  paths: readonly string[],
  found: readonly FoundEntry[],
  wanted: WantedTransfer,
): Promise<SharedTransfer> {
  const id = transferId(destination.server, destination.account, paths)
  const folder = onlyFolder(found)
  const made = await openTransfer(parts, id, { ...(folder === null ? {} : { name: folder }), ...wanted })
  const { receipt, url } = made
  if (receipt !== null) {
    const name = wanted.name ?? folder ?? count(wanted.files, 'file')
    const { url: server } = parts.server
    const kept = { server, receipt, url, name, size: wanted.bytes, uploaded_at: systemClock.now() }
    await createKeptReceipts(stateFolder(environment)).keep(kept)
    watch.say(`change or delete it at ${receiptAddress(kept)}`)
  }
  if (wanted.bytes > parts.chunkSize.current()) watch.say(`the link is there already: ${url}`)
  return { id, made, own: folder === null ? 0 : 1 }
}

async function* inOrder(found: readonly FoundEntry[]): AsyncGenerator<FoundEntry> {
  yield* found
}

async function uploadOne(
  command: UploadCommand & { readonly shared: SharedTransfer | null },
  item: FoundEntry,
  done: string[],
): Promise<Outcome> {
  const { parts, destination, shared } = command
  if (item.kind === 'failure') return { path: item.shown, error: item.error }
  const path = item.kind === 'file' ? item.file.shown : item.folders.join('/')
  try {
    const place = await placeOf(command, item.folders)
    if (item.kind === 'folder') return null
    const target = { ...destination, place }
    const result = await uploadLocalFile(parts, item.file, target)
    if (shared === null) await keepReceipt(command, item.file.name, result)
    done.push(uploadId(item.file, target))
    return { path, result }
  } catch (error) {
    return { path, error }
  }
}

/** Makes the folders on the way, but those of a guest's transfer, which the server makes. */
async function placeOf(
  { tree, destination, shared }: UploadCommand & { readonly shared: SharedTransfer | null },
  folders: readonly string[],
): Promise<UploadPlace> {
  const below = folders.slice(shared?.own ?? 0)
  if (shared !== null && shared.made.receipt !== null) {
    const { folder, receipt } = shared.made
    return { kind: 'transfer', folder, receipt, path: below }
  }
  if (tree === null) return TOP_LEVEL
  const start = shared === null ? placeName(destination.place) : shared.made.folder
  return { kind: 'folder', folder: await tree.ensure(start, below) }
}

/** `link`: one for all, which is printed last; null where each file's own is printed. */
function print(
  outcome: Exclude<Outcome, null>,
  { json }: Options,
  link: string | null,
  environment: Environment = {},
): void {
  if ('result' in outcome) {
    const { path, result } = outcome
    if (json) printJson({ path, ...result, ...(link === null ? {} : { link }) })
    else if (link === null) printLines(result.url)
    return
  }
  const message = explain(asLocalFailure(outcome.error), environment)
  if (json) printJson({ path: outcome.path, error: message })
  printProblem(`error: ${outcome.path}: ${message}`)
}
