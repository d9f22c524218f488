import type { Command } from 'commander'
import type {
  ReceiptContributionFields,
  ReceiptFields,
  ReceiptLinkFields,
  ReceiptUploadFields,
} from '../../client/answers.ts'
import { type Api, createApi, type ReceiptChange } from '../../client/api.ts'
import { ClientError, isAnswer } from '../../client/failure.ts'
import {
  createKeptReceipts,
  type KeptReceipt,
  type KeptReceipts,
  parseReceiptName,
  receiptAddress,
} from '../../client/receipts.ts'
import { parseRemoteName, RemoteTree } from '../../client/remote-tree.ts'
import type { Environment } from '../../config/environment.ts'
import { systemClock, timestamp } from '../../domain/clock.ts'
import { formatSize } from '../../domain/sizes.ts'
import { readCount, readExpiry } from '../options.ts'
import { printJson, printLines, printPairs, printTable, shortTime } from '../output.ts'
import {
  asClient,
  keyForLink,
  notLoggedIn,
  openRetries,
  printNotice,
  type ServerOption,
  serverAddress,
  stateFolder,
} from '../session.ts'
import { printLog } from './links.ts'

interface Options extends ServerOption {
  readonly name?: string
  readonly keep?: true
  /** Milliseconds since the epoch. */
  readonly until?: number | 'never'
  readonly downloads?: number | 'any'
  /** Empty: none. */
  readonly password?: string
  readonly message?: string
  readonly log?: true
  readonly delete?: true
  readonly claim?: true
  readonly folder?: string
  readonly json?: true
}

/** Manages uploads without an account, contributions and guests' links, as far as their receipts allow. */
export function receiptCommand(command: Command, environment: Environment): void {
  command
    .description(
      'show, change, delete or claim what was uploaded without an account, and links made without one; alone, list what was from here',
    )
    .argument(
      '[receipt]',
      'a receipt, the address of its page, or the link of a file that was uploaded from here',
    )
    .option('--name <name>', 'give the file this name; of a link: this title')
    .option('--keep', 'keep it as long as if somebody had opened it now')
    .option('--until <when>', 'of a link: when it ends, such as 7d or 2030-01-31, or never', readEnd)
    .option('--downloads <number>', 'of a link: how many visitors may download it, or any', readDownloads)
    .option('--password <password>', 'of a link: its password from now on; "" for none')
    .option('--message <text>', 'of a link: what its page says; "" for nothing')
    .option('--log', 'of a link: list what happened to it')
    .option('--delete', 'delete the file for good, also while it is still arriving, or revoke the link')
    .option('--claim', 'move it into the account that you are logged in to; its receipt is for nothing then')
    .option(
      '--folder <folder>',
      'the folder that it is claimed into: an identifier, a link or a path such as /photos',
    )
    .option('--json', 'print a JSON object, or one a line')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((text: string | undefined, options: Options) => {
      const { claim, folder } = options
      const changes = Object.keys(changeOf(options)).length > 0 || claim !== undefined
      if (options.delete && (changes || options.log)) command.error('error: --delete goes with nothing else.')
      if (options.log && changes) command.error('error: --log changes nothing.')
      if (folder !== undefined && !claim) command.error('error: --folder says where --claim moves it.')
      if (text === undefined && (changes || options.log || options.delete)) {
        command.error('error: name the receipt that this is about.')
      }
      return asClient(() =>
        text === undefined ? list(environment, options) : run(environment, text, options),
      )
    })
}

function readEnd(text: string): number | 'never' {
  return text === 'never' ? text : readExpiry(text, systemClock.now())
}

function readDownloads(text: string): number | 'any' {
  return text === 'any' ? text : readCount(text)
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
  const api = createApi({ url: found.server, key: null }, openRetries(printNotice))
  try {
    if (options.delete) {
      await api.deleteReceipt(found.receipt)
      await kept.forget(found)
    } else if (options.log) await printLog(api.receiptLog(found.receipt), options)
    else if (options.claim) await claim(environment, kept, found, options)
    else show(found, await changed(api, found.receipt, options), options)
  } catch (error) {
    // Deleted, or not viewed for too long.
    if (isAnswer(error, 404, 'NOT_FOUND')) await kept.forget(found)
    throw error
  }
}

/** With the key of the receipt's server. Other changes come first. */
async function claim(
  environment: Environment,
  kept: KeptReceipts,
  found: Named,
  options: Options,
): Promise<void> {
  const { server, receipt } = found
  const key = await keyForLink(environment, server, options)
  if (key === null) throw notLoggedIn(server)
  const api = createApi({ url: server, key }, openRetries(printNotice))
  const { folder = 'root' } = options
  const place = folder === 'root' ? folder : await new RemoteTree(api).folder(parseRemoteName(folder))
  const before = await changed(api, receipt, options)
  const claimed = (await api.claimReceipt(receipt, place)) ?? before
  await kept.forget(found)
  if (options.json) printJson(claimed)
  else if ('url' in claimed && claimed.url !== null) printLines(claimed.url)
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

function changed(api: Api, receipt: string, options: Options): Promise<ReceiptFields> {
  const change = changeOf(options)
  return Object.keys(change).length === 0 ? api.receipt(receipt) : api.changeReceipt(receipt, change)
}

function changeOf({ name, keep, until, downloads, password, message }: Options): ReceiptChange {
  return {
    ...(name === undefined ? {} : { name }),
    ...(keep === undefined ? {} : { keep }),
    ...(until === undefined ? {} : { ends_at: until === 'never' ? null : timestamp(until) }),
    ...(downloads === undefined ? {} : { max_downloads: downloads === 'any' ? null : downloads }),
    ...(password === undefined ? {} : { password: password || null }),
    ...(message === undefined ? {} : { message }),
  }
}

function show(found: Named, shown: ReceiptFields, { json }: Options): void {
  const address = receiptAddress(found)
  if (json) printJson({ ...shown, receipt_url: address })
  else printReceipt(shown, address)
}

type Pairs = readonly (readonly [string, string])[]

export function printReceipt(shown: ReceiptFields, address: string): void {
  printPairs(pairsOf(shown, ['Receipt', address]))
}

type Page = readonly ['Receipt', string]

function pairsOf(shown: ReceiptFields, page: Page): Pairs {
  switch (shown.kind) {
    case 'upload':
      return pairsOfUpload(shown, page)
    case 'contribution':
      return pairsOfSent(shown, page)
    case 'link':
    case 'transfer':
      return pairsOfLink(shown, page)
  }
}

function pairsOfUpload(upload: ReceiptUploadFields, page: Page): Pairs {
  const { status, name, url, created_at, expires_at, views, downloads } = upload
  return [
    ['File', name],
    ['Link', url],
    page,
    ...arrivedPairs(upload),
    ['Since', created_at],
    [
      'Expires',
      expires_at === null
        ? 'never'
        : `${expires_at}, unless ${status === 'completed' ? 'somebody looks at it' : 'the upload goes on'}`,
    ],
    ['Views', String(views)],
    ['Downloads', String(downloads)],
  ]
}

function pairsOfSent(sent: ReceiptContributionFields, page: Page): Pairs {
  const { name, owner, link, sender, address, reference, can_withdraw, created_at } = sent
  const said = [
    ['Sender', sender],
    ['Address', address],
    ['Reference', reference],
  ] as const
  return [
    ['File', name],
    ['To', owner],
    ['Link', link === null ? 'revoked' : link.url],
    page,
    ...arrivedPairs(sent),
    ...said.flatMap(([label, answer]) => (answer === null ? [] : [[label, answer] as const])),
    ['Since', created_at],
    ['Withdrawable', can_withdraw ? 'yes' : 'no, the link is over or the file was put elsewhere'],
  ]
}

function pairsOfLink(link: ReceiptLinkFields, page: Page): Pairs {
  const { title, url, state, files, has_password, ends_at, downloads, max_downloads, created_at } = link
  return [
    ['Link', url],
    ['Title', title],
    page,
    ['State', state === 'used_up' ? 'used up' : state],
    ['Files', String(files)],
    ['Password', has_password ? 'yes' : 'no'],
    ['Since', created_at],
    ['Ends', ends_at ?? 'never'],
    ['Downloads', max_downloads === null ? String(downloads) : `${downloads} of ${max_downloads}`],
  ]
}

function arrivedPairs({
  status,
  received,
  size,
  sha256,
}: Pick<ReceiptUploadFields, 'status' | 'received' | 'size' | 'sha256'>): Pairs {
  const whole = size === null ? '' : ` of ${formatSize(size)}`
  return [
    ['Size', status === 'completed' ? formatSize(received) : `${formatSize(received)}${whole} has arrived`],
    ...(sha256 === null ? [] : [['SHA-256', sha256] as const]),
  ]
}
