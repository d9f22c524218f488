import type { Command } from 'commander'
import type { ReceiptFields } from '../../client/answers.ts'
import { type Api, createApi } from '../../client/api.ts'
import { ClientError, isAnswer } from '../../client/failure.ts'
import {
  createKeptReceipts,
  type KeptReceipt,
  type KeptReceipts,
  parseReceiptName,
  receiptAddress,
} from '../../client/receipts.ts'
import { parseRemoteName } from '../../client/remote-names.ts'
import { RemoteTree } from '../../client/remote-tree.ts'
import type { Environment } from '../../config/environment.ts'
import { timestamp } from '../../domain/clock.ts'
import { formatSize } from '../../domain/sizes.ts'
import { printJson, printLines, printPairs, printTable } from '../output.ts'
import {
  asClient,
  keyForLink,
  notLoggedIn,
  openRetries,
  type ServerOption,
  sayPlainly,
  serverAddress,
  stateFolder,
} from '../session.ts'
import { shortTime } from '../words.ts'

interface Options extends ServerOption {
  readonly name?: string
  readonly keep?: true
  readonly delete?: true
  readonly claim?: true
  readonly folder?: string
  readonly json?: true
}

/** `holdfast receipt`: shows, changes, deletes or claims what was uploaded as a guest, or lists what was from here. */
export function receiptCommand(command: Command, environment: Environment): void {
  command
    .description(
      'show, rename, keep, delete or claim what was uploaded without an account; alone, list what was from here',
    )
    .argument(
      '[receipt]',
      'a receipt, the address of its page, or the link of a file that was uploaded from here',
    )
    .option('--name <name>', 'give the file this name')
    .option('--keep', 'keep it as long as if somebody had opened it now')
    .option('--delete', 'delete it for good, also while it is still arriving')
    .option('--claim', 'move it into the account that you are logged in to; its receipt is for nothing then')
    .option(
      '--folder <folder>',
      'the folder that it is claimed into: an identifier, a link or a path such as /photos',
    )
    .option('--json', 'print a JSON object, or one a line')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((text: string | undefined, options: Options) => {
      const { name, keep, claim, folder } = options
      const changes = name !== undefined || keep !== undefined || claim !== undefined
      if (options.delete && changes) command.error('error: --delete goes with no other change.')
      if (folder !== undefined && !claim) command.error('error: --folder says where --claim moves it.')
      if (text === undefined && (changes || options.delete)) {
        command.error('error: name the receipt that this is about.')
      }
      return asClient(() =>
        text === undefined ? list(environment, options) : run(environment, text, options),
      )
    })
}

async function list(environment: Environment, { json }: Options): Promise<void> {
  const kept = await createKeptReceipts(stateFolder(environment)).list()
  if (json) {
    for (const each of kept)
      printJson({ ...each, uploaded_at: timestamp(each.uploaded_at), receipt_url: receiptAddress(each) })
    return
  }
  const rows = kept.map((each) => [
    each.name,
    formatSize(each.size),
    shortTime(timestamp(each.uploaded_at)),
    each.url,
    receiptAddress(each),
  ])
  if (rows.length > 0) printTable(['NAME', 'SIZE', 'UPLOADED', 'LINK', 'RECEIPT'], rows)
}

async function run(environment: Environment, text: string, options: Options): Promise<void> {
  const kept = createKeptReceipts(stateFolder(environment))
  const found = await named(environment, kept, text, options)
  const api = createApi({ url: found.server, key: null }, openRetries(sayPlainly))
  try {
    if (options.delete) {
      await api.deleteReceipt(found.receipt)
      await kept.forget(found)
    } else if (options.claim) await claim(environment, kept, found, options)
    else show(found, await changed(api, found.receipt, options), options)
  } catch (error) {
    // Deleted, or not looked at for too long.
    if (isAnswer(error, 404, 'NOT_FOUND')) await kept.forget(found)
    throw error
  }
}

/** With the key of the server that the receipt is of. What else is to be changed is changed before. */
async function claim(
  environment: Environment,
  kept: KeptReceipts,
  found: Named,
  options: Options,
): Promise<void> {
  const { server, receipt } = found
  const key = await keyForLink(environment, server, options)
  if (key === null) throw notLoggedIn(server)
  const api = createApi({ url: server, key }, openRetries(sayPlainly))
  const { folder = 'root' } = options
  const place = folder === 'root' ? folder : await new RemoteTree(api).folder(parseRemoteName(folder))
  if (options.name !== undefined || options.keep) await changed(api, receipt, options)
  const claimed = await api.claimReceipt(receipt, place)
  await kept.forget(found)
  if (options.json) printJson(claimed)
  else printLines(claimed.url)
}

type Named = Pick<KeptReceipt, 'server' | 'receipt'>

async function named(
  environment: Environment,
  kept: KeptReceipts,
  text: string,
  options: ServerOption,
): Promise<Named> {
  const name = parseReceiptName(text)
  const all = await kept.list()
  if (name.kind === 'file') {
    const one = all.find(({ url }) => url === name.url)
    if (one !== undefined) return one
    throw new ClientError(
      `there is no receipt of ${name.url} here; "holdfast receipt" lists those that there are.`,
    )
  }
  const { receipt } = name
  const server = name.server ?? all.find((each) => each.receipt === receipt)?.server
  return { receipt, server: server ?? (await serverAddress(environment, options)) }
}

function changed(api: Api, receipt: string, { name, keep }: Options): Promise<ReceiptFields> {
  if (name === undefined && keep === undefined) return api.receipt(receipt)
  return api.changeReceipt(receipt, { ...(name === undefined ? {} : { name }), ...(keep ? { keep } : {}) })
}

function show(found: Named, upload: ReceiptFields, { json }: Options): void {
  if (json) {
    printJson({ ...upload, receipt_url: receiptAddress(found) })
    return
  }
  const { status, name, url, received, size, created_at, expires_at, views, downloads, sha256 } = upload
  const whole = size === null ? '' : ` of ${formatSize(size)}`
  printPairs([
    ['File', name],
    ['Link', url],
    ['Receipt', receiptAddress(found)],
    ['Size', status === 'completed' ? formatSize(received) : `${formatSize(received)}${whole} has arrived`],
    ...(sha256 === null ? [] : [['SHA-256', sha256] as const]),
    ['Since', created_at],
    [
      'Expires',
      `${expires_at}, unless ${status === 'completed' ? 'somebody looks at it' : 'the upload goes on'}`,
    ],
    ['Views', String(views)],
    ['Downloads', String(downloads)],
  ])
}
