import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import type { Uploaded } from '../client/answers.ts'
import { createApi, type FolderName } from '../client/api.ts'
import { createChunkSize } from '../client/chunk-size.ts'
import { ClientError, plainLines } from '../client/failure.ts'
import { type FoundEntry, findFiles } from '../client/find-files.ts'
import type { NamedInput } from '../client/local-file.ts'
import { mapConcurrently } from '../client/map-concurrently.ts'
import { CONNECTIONS, connectionsEach, mayGoInParts } from '../client/policy/upload-policy.ts'
import { createKeptReceipts, receiptAddress } from '../client/receipts.ts'
import { parseRemoteName, RemoteTree } from '../client/remote-tree.ts'
import { uploadStream } from '../client/stream-upload.ts'
import { RemoteLine, type UploadParts } from '../client/upload-job.ts'
import { createUploadStates, type UploadDestination, uploadId } from '../client/upload-states.ts'
import { uploadLocalFile } from '../client/uploading.ts'
import type { Environment } from '../config/environment.ts'
import { systemClock } from '../domain/clock.ts'
import { explain } from './failure.ts'
import { readChunkSize, readParallel } from './options.ts'
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
  readonly json?: true
}

/** Resumes when run again. */
export function uploadCommand(upload: Command, environment: Environment): void {
  upload
    .alias('put')
    .description(
      'upload files and folders, and print a link for each file; run again, it goes on where it stopped',
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
    .option('--name <name>', 'the file name for standard input; by default one that fits its content')
    .option('--json', 'print one JSON object a line')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((paths: string[], options: Options) => {
      if (paths.includes('-') && paths.length > 1) {
        upload.error('error: standard input (-) cannot be uploaded together with other paths.')
      }
      if (options.guest && options.folder !== undefined) {
        upload.error('error: guests have no folders; leave out --folder or --guest.')
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
      destination: { server: url, account: null, folder: 'root' },
    }
  }
  if (server.key === null) throw notLoggedIn(url, ', or upload as a guest with --guest')
  const api = createApi(server, retries, true)
  const login = await openLogins(environment).at(url)
  const account = login?.api_key === server.key ? login.account_id : (await api.account()).id
  const tree = new RemoteTree(api)
  const into = folder === undefined ? 'root' : await tree.folder(parseRemoteName(folder))
  const destination = { server: url, account, folder: into }
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
  const { folder } = destination
  const result = await uploadStream(content, { server, retries, chunkSize, transfer, name, folder }).finally(
    () => transfer.end(),
  )
  await keepReceipt(command, name, result)
  watch.aside(() => print({ path: '-', result }, options))
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
  watch.expect(
    files.length,
    files.reduce((sum, { size }) => sum + size, 0),
  )
  const connections = connectionsEach(Math.min(files.length, options.parallel))
  const shared = { ...command, parts: { ...parts, connections } }
  const done: string[] = []
  let failed = 0
  await mapConcurrently(
    inOrder(found),
    options.parallel,
    (item) => uploadOne(shared, item, done),
    (outcome) => {
      if (outcome === null) return
      if ('error' in outcome) failed += 1
      watch.aside(() => print(outcome, options, environment))
    },
  )
  if (failed > 0) {
    throw new ClientError(
      `${failed} of ${count(files.length + unreadable, 'file')} could not be uploaded; the same command, run again, goes on with them.`,
    )
  }
  // States are removed last, so that a repeated command prints the links of uploads that an interrupted one had
  // finished.
  for (const id of done) await parts.states.remove(id)
  if (files.length === 0 && destination.account === null) throw new ClientError('there is no file to upload.')
}

async function* inOrder(found: readonly FoundEntry[]): AsyncGenerator<FoundEntry> {
  yield* found
}

async function uploadOne(command: UploadCommand, item: FoundEntry, done: string[]): Promise<Outcome> {
  const { parts, tree, destination } = command
  if (item.kind === 'failure') return { path: item.shown, error: item.error }
  const path = item.kind === 'file' ? item.file.shown : item.folders.join('/')
  try {
    const folder: FolderName = tree === null ? 'root' : await tree.ensure(destination.folder, item.folders)
    if (item.kind === 'folder') return null
    const target = { ...destination, folder }
    const result = await uploadLocalFile(parts, item.file, target)
    await keepReceipt(command, item.file.name, result)
    done.push(uploadId(item.file, target))
    return { path, result }
  } catch (error) {
    return { path, error }
  }
}

function print(outcome: Exclude<Outcome, null>, { json }: Options, environment: Environment = {}): void {
  if ('result' in outcome) {
    const { path, result } = outcome
    if (json) printJson({ path, ...result })
    else printLines(result.url)
    return
  }
  const message = explain(asLocalFailure(outcome.error), environment)
  if (json) printJson({ path: outcome.path, error: message })
  printProblem(`error: ${outcome.path}: ${message}`)
}
