import { mkdir } from 'node:fs/promises'
import type { Command } from 'commander'
import { createApi } from '../client/api.ts'
import { type DownloadParts, type DownloadResult, downloadFile, type Wanted } from '../client/downloading.ts'
import { ClientError, plainLines } from '../client/failure.ts'
import { type Link, type LinkClient, parseLink } from '../client/link-client.ts'
import { mapConcurrently } from '../client/map-concurrently.ts'
import { createPlaces, walkRemoteFolder } from '../client/places.ts'
import type { PublicClient } from '../client/public-client.ts'
import { fileWanted } from '../client/receiving.ts'
import { parseRemoteName, RemoteTree } from '../client/remote-tree.ts'
import type { Retries } from '../client/retries.ts'
import type { Environment } from '../config/environment.ts'
import { systemClock } from '../domain/clock.ts'
import { clientVariables } from '../settings.ts'
import { explain } from './failure.ts'
import { readParallel } from './options.ts'
import { count, printJson, printLines, printProblem } from './output.ts'
import { barProgress, plainProgress } from './progress-bars.ts'
import { createPublicClients, type PublicClients } from './public-clients.ts'
import {
  asClient,
  asLocalFailure,
  keyFor,
  notLoggedIn,
  openRetries,
  type ServerOption,
  serverAddress,
} from './session.ts'

interface Options extends ServerOption {
  readonly output: string
  readonly password?: string
  readonly parallel: number
  readonly force?: true
  readonly json?: true
}

/** Resumes when run again. */
export function downloadCommand(download: Command, environment: Environment): void {
  download
    .description('download files and folders, verified; run again, it goes on where it stopped')
    .argument('<link...>', 'links, slugs, identifiers of folders, or your own paths such as /photos/2026')
    .option('--output <folder>', 'the local folder to download to; created if it is missing', '.')
    .option(
      '--password <password>',
      `of a folder or link; else from ${clientVariables.password}, or asked for`,
    )
    .option('--parallel <number>', 'files fetched at once', readParallel, 8)
    .option('--force', 'overwrite existing files; otherwise a download of the same name gets a number')
    .option('--json', 'print one JSON object a line')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((links: string[], options: Options) => asClient(() => run(environment, links, options)))
}

async function run(environment: Environment, texts: readonly string[], options: Options): Promise<void> {
  const watch = process.stderr.isTTY
    ? await barProgress({ stream: process.stderr, clock: systemClock })
    : plainProgress((text) => process.stderr.write(plainLines(text)))
  const retries = openRetries(watch.say)
  const parts = { retries, places: createPlaces({ force: options.force === true }), watch }
  let files = 0
  let failed = 0
  const tell = (outcome: Outcome) => {
    files += 1
    if ('error' in outcome) failed += 1
    watch.aside(() => print(outcome, options, environment))
  }
  try {
    const clients = createPublicClients(environment, options, retries, watch)
    const wanted = findWanted(texts, { environment, options, retries, clients })
    await mapConcurrently(wanted, options.parallel, (item) => fetchOne(parts, item), tell)
  } finally {
    watch.end()
  }
  if (failed > 0) {
    throw new ClientError(
      `${failed} of ${count(files, 'file')} could not be downloaded; the same command, run again, goes on with them.`,
    )
  }
}

interface Finding {
  readonly environment: Environment
  readonly options: Options
  readonly retries: Retries
  readonly clients: PublicClients
}

type Item =
  | { readonly name: string; readonly wanted: Wanted }
  | { readonly name: string; readonly error: unknown }

async function* findWanted(texts: readonly string[], finding: Finding): AsyncGenerator<Item> {
  const { options, clients } = finding
  for (const text of texts) {
    try {
      const link = await readTarget(text, finding)
      switch (link.kind) {
        case 'bytes':
          yield { name: text, wanted: bytesWanted(link.url, options.output) }
          break
        case 'file':
          yield {
            name: text,
            wanted: fileWanted(await clients.at(link.server), link.slug, null, options.output),
          }
          break
        case 'folder':
          yield* folderWanted(await clients.at(link.server), link.identifier, options.output)
          break
        case 'link':
          yield { name: text, wanted: linkWanted(await clients.link(link.server, link.slug), options.output) }
      }
    } catch (error) {
      yield { name: text, error }
    }
  }
}

async function* folderWanted(client: PublicClient, identifier: string, output: string): AsyncGenerator<Item> {
  for await (const walked of walkRemoteFolder(client, identifier, output)) {
    switch (walked.kind) {
      case 'folder':
        await mkdir(walked.folder, { recursive: true })
        break
      case 'failure':
        yield { name: walked.folder, error: walked.error }
        break
      case 'file':
        yield { name: walked.name, wanted: fileWanted(client, walked.slug, walked.name, walked.folder) }
    }
  }
}

function bytesWanted(url: string, folder: string): Wanted {
  return { address: async () => ({ url, headers: {} }), arriving: null, name: null, folder }
}

/** The link's one file, or all of it as one ZIP file. */
function linkWanted(client: LinkClient, folder: string): Wanted {
  return { address: () => client.address(), arriving: null, name: null, folder }
}

/** Anything but a URL is looked up on the configured server. */
async function readTarget(text: string, { environment, options, retries }: Finding): Promise<Link> {
  if (/^https?:\/\//i.test(text)) return parseLink(text)
  const server = await serverAddress(environment, options)
  const name = parseRemoteName(text)
  if (name.kind === 'folder') return { kind: 'folder', server, identifier: name.identifier }
  if (name.kind === 'file' && /^[A-Za-z][A-Za-z0-9]{11}$/.test(name.identifier)) {
    return { kind: 'file', server, slug: name.identifier }
  }
  const key = await keyFor(environment, server)
  if (key === null) throw notLoggedIn(server)
  const api = createApi({ url: server, key }, retries, true)
  const thing = await new RemoteTree(api).find(name)
  switch (thing.kind) {
    case 'root':
      throw new ClientError('the top level has no link; name its folders and files.')
    case 'folder':
      return { kind: 'folder', server, identifier: thing.folder.id }
    case 'file':
      return { kind: 'file', server, slug: (await api.file(thing.identifier)).slug }
  }
}

type Outcome =
  | { readonly name: string; readonly file: DownloadResult }
  | { readonly name: string; readonly error: unknown }

async function fetchOne(parts: DownloadParts, item: Item): Promise<Outcome> {
  if ('error' in item) return item
  try {
    return { name: item.name, file: await downloadFile(parts, item.wanted) }
  } catch (error) {
    return { name: item.name, error }
  }
}

function print(outcome: Outcome, { json }: Options, environment: Environment): void {
  if ('file' in outcome) {
    const { path, size, sha256, wasThere } = outcome.file
    if (json) printJson({ path, size, sha256, was_there: wasThere })
    else printLines(path)
    return
  }
  const message = explain(asLocalFailure(outcome.error), environment)
  if (json) printJson({ name: outcome.name, error: message })
  printProblem(`error: ${outcome.name}: ${message}`)
}
