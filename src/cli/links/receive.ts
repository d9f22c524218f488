import { resolve } from 'node:path'
import type { Command } from 'commander'
import { renderUnicodeCompact } from 'uqr'
import type { OwnLinkFields } from '../../client/answers.ts'
import { type Api, createApi } from '../../client/api.ts'
import { ClientError, isAnswer, plainLines } from '../../client/failure.ts'
import { parseLink } from '../../client/link-client.ts'
import { createPlaces } from '../../client/places.ts'
import {
  openReceivedFiles,
  type ReceiveParts,
  type ReceiveResult,
  receiveAll,
} from '../../client/receiving.ts'
import { parseLinkName, parseRemoteName, RemoteTree } from '../../client/remote-tree.ts'
import type { Retries } from '../../client/retries.ts'
import type { Environment } from '../../config/environment.ts'
import { systemClock } from '../../domain/clock.ts'
import { explain } from '../failure.ts'
import { readParallel } from '../options.ts'
import { count, printJson, printLines, printProblem } from '../output.ts'
import { barProgress, plainProgress, type ShownProgress } from '../progress-bars.ts'
import { createPublicClients } from '../public-clients.ts'
import {
  asClient,
  asLocalFailure,
  keyForLink,
  notLoggedIn,
  openRetries,
  serverAddress,
  stateFolder,
} from '../session.ts'
import { type UploadTermOptions, uploadsOf, uploadTermOptions } from './request.ts'
import { readTerms } from './share.ts'

interface Options extends UploadTermOptions {
  readonly output: string
  readonly once?: true
  readonly parallel: number
}

const FOLDER = 'Received'

/** Resumes when run again with its link. */
export function receiveCommand(receive: Command, environment: Environment): void {
  uploadTermOptions(
    receive
      .description(
        'wait for what others send by a link that asks for files, and download it as it comes; run again with the link, it goes on',
      )
      .argument('[what]', `such a link of yours, or a folder to make a new one into; else /${FOLDER}`)
      .option('--output <folder>', 'the local folder to download to; created if it is missing', '.')
      .option('--once', 'end when something has come and nothing more is on its way')
      .option('--parallel <number>', 'files fetched at once', readParallel, 4),
  ).action((what: string | undefined, options: Options) => asClient(() => run(environment, what, options)))
}

async function run(environment: Environment, what: string | undefined, options: Options): Promise<void> {
  const watch = process.stderr.isTTY
    ? await barProgress({ stream: process.stderr, clock: systemClock })
    : plainProgress((text) => process.stderr.write(plainLines(text)))
  try {
    const retries = openRetries(watch.say)
    const api = await openApiOf(environment, what, options, retries)
    const { link, isNew } = await findLink(api, what, options)
    watch.aside(() => show(link, options))
    const failed = await receive(environment, { api, link, watch, retries }, options)
    if (isNew && options.once) await api.revokeLink(link.slug)
    if (failed > 0) {
      throw new ClientError(
        `${count(failed, 'file')} could not be downloaded; "holdfast receive ${link.url}" goes on with what is missing.`,
      )
    }
  } finally {
    watch.end()
  }
}

/** A link names its server. */
async function openApiOf(
  environment: Environment,
  what: string | undefined,
  options: Options,
  retries: Retries,
): Promise<Api> {
  const named = what !== undefined && /^https?:\/\//i.test(what) ? parseLink(what) : null
  const server =
    named === null || named.kind === 'bytes' ? await serverAddress(environment, options) : named.server
  const key = await keyForLink(environment, server, options)
  if (key === null) throw notLoggedIn(server)
  return createApi({ url: server, key }, retries, true)
}

interface FoundLink {
  readonly link: OwnLinkFields
  readonly isNew: boolean
}

async function findLink(api: Api, what: string | undefined, options: Options): Promise<FoundLink> {
  const present = what === undefined || what.startsWith('/') ? null : await linkCalled(api, what)
  if (present !== null) {
    if (present.uploads === null) {
      throw new ClientError(`${present.url} opens something; "holdfast download" fetches it.`)
    }
    return { link: present, isNew: false }
  }
  const folder = await folderCalled(api, what)
  const wanted = { files: [], folders: [folder], ...readTerms(options), uploads: uploadsOf(options) }
  const { slug } = await api.makeLink(wanted)
  return { link: await api.link(slug), isNew: true }
}

/** Null where it names no link of the account; it may be a folder. */
async function linkCalled(api: Api, what: string): Promise<OwnLinkFields | null> {
  const isAddress = /^https?:\/\/[^/]+\/l\//i.test(what)
  if (!isAddress && !/^[a-z0-9-]{3,64}$/.test(what)) return null
  try {
    return await api.link(parseLinkName(what))
  } catch (error) {
    if (isAddress || !isAnswer(error, 404, 'LINK_NOT_FOUND')) throw error
    return null
  }
}

async function folderCalled(api: Api, what: string | undefined): Promise<string> {
  const tree = new RemoteTree(api)
  if (what === undefined) {
    const thing = await tree.look({ kind: 'path', names: [FOLDER] })
    if (thing?.kind === 'folder') return thing.folder.id
    return api.createFolder(FOLDER, 'root', { public: 0 })
  }
  const thing = await tree.find(parseRemoteName(what))
  if (thing.kind === 'folder') return thing.folder.id
  throw new ClientError(`"${what}" is neither a link of yours nor a folder that others could put files into.`)
}

/** On standard error: standard output has what came, and for programs the first line. */
function show({ slug, url, title, state }: OwnLinkFields, { json }: Options): void {
  if (json) printJson({ link: { slug, url, title, state } })
  printProblem(`Waiting for what comes by ${url}`)
  if (process.stderr.isTTY) process.stderr.write(`${renderUnicodeCompact(url)}\n`)
}

interface ReceiveSession extends Pick<ReceiveParts, 'api' | 'retries'> {
  readonly link: OwnLinkFields
  readonly watch: ShownProgress
}

/** Returns the number of failed files. */
async function receive(
  environment: Environment,
  { api, link, watch, retries }: ReceiveSession,
  options: Options,
): Promise<number> {
  const output = resolve(options.output)
  const [folder] = link.targets.folders
  if (folder === undefined) throw new ClientError(`the folder of ${link.url} is gone.`)
  const { url: server } = api.server
  const { password: _, ...others } = options
  const client = await createPublicClients(environment, { ...others, server }, retries, watch).at(server)
  const received = await openReceivedFiles(stateFolder(environment), { link: link.url, into: output })
  const parts = { api, client, received, retries, watch, places: createPlaces({ force: false }) }
  const wanted = {
    link: link.slug,
    from: folder.id,
    output,
    width: options.parallel,
    once: options.once === true,
  }
  let failed = 0
  await receiveAll(parts, wanted, (arrived) => {
    if ('error' in arrived) failed += 1
    watch.aside(() => print(arrived, options, environment))
  })
  return failed
}

function print(arrived: ReceiveResult, { json }: Options, environment: Environment): void {
  const { name, sender, address, reference } = arrived.sent
  if ('file' in arrived) {
    const { path, size, sha256, wasThere } = arrived.file
    if (json) printJson({ path, size, sha256, was_there: wasThere, sender, address, reference })
    else printLines(path)
    return
  }
  const message = explain(asLocalFailure(arrived.error), environment)
  if (json) printJson({ name, error: message })
  printProblem(`error: ${name}: ${message}`)
}
