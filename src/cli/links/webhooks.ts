import { type Command, InvalidArgumentError, Option } from 'commander'
import type { WebhookDeliveryItem, WebhookItem } from '../../client/answers.ts'
import type { WebhooksApi } from '../../client/webhooks-api.ts'
import type { Environment } from '../../config/environment.ts'
import { printJson, printPairs, printTable } from '../output.ts'
import { asClient, openApi, type ServerOption } from '../session.ts'
import { shortTime } from '../words.ts'

interface Options extends ServerOption {
  readonly add?: string
  readonly kinds?: readonly string[]
  readonly test?: number
  readonly log?: number
  readonly replay?: number
  readonly enable?: number
  readonly remove?: number
  readonly json?: true
}

/** `holdfast webhooks`: lists the addresses that get the account's events, or does something with one. */
export function webhooksCommand(webhooks: Command, environment: Environment): void {
  webhooks
    .description('list the addresses that are told what happens to your links, or add, test or remove one')
    .addOption(
      oneOf(
        new Option('--add <url>', 'add this address, and print the secret that signs what is sent there'),
      ),
    )
    .option('--kinds <list>', 'with --add: only these events, with commas between them', (text) =>
      text.split(','),
    )
    .addOption(oneOf(numbered('--test <number>', 'send a test to the webhook of that number')))
    .addOption(oneOf(numbered('--log <number>', 'list what was sent to that webhook, or is to be')))
    .addOption(numbered('--replay <delivery>', 'with --log: send this delivery again'))
    .addOption(oneOf(numbered('--enable <number>', 'use that webhook again after it was disabled')))
    .addOption(oneOf(numbered('--remove <number>', 'remove that webhook')))
    .option('--json', 'print one JSON object a line')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((options: Options, command: Command) => {
      if (options.kinds !== undefined && options.add === undefined) {
        command.error('error: --kinds says which events go to an address that is added with --add.')
      }
      if (options.replay !== undefined && options.log === undefined) {
        command.error('error: --replay needs the number of the webhook, given with --log.')
      }
      return asClient(async () => run((await openApi(environment, options)).webhooks, options))
    })
}

/** What is done with one webhook: one thing at a time. */
const DEEDS = ['add', 'test', 'log', 'enable', 'remove'] as const

function oneOf(option: Option): Option {
  return option.conflicts(DEEDS.filter((name) => name !== option.attributeName()))
}

function numbered(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseNumber)
}

async function run(api: WebhooksApi, options: Options): Promise<void> {
  const { add, kinds = null, test, log, replay, enable, remove, json } = options
  if (add !== undefined) {
    const { id, secret } = await api.add(add, kinds)
    if (json) printJson({ id, secret })
    else
      printPairs([
        ['number', String(id)],
        ['secret', secret],
      ])
    return
  }
  if (test !== undefined) return api.test(test)
  if (enable !== undefined) return api.enable(enable)
  if (remove !== undefined) return api.remove(remove)
  if (log === undefined) return show(await api.list(), json, ['NUMBER', 'STATE', 'EVENTS', 'ADDRESS'], rowOf)
  if (replay !== undefined) return api.replay(log, replay)
  show(await api.deliveries(log), json, ['DELIVERY', 'WHEN', 'WHAT', 'STATE', 'NEXT'], deliveryRowOf)
}

function show<Item>(
  items: readonly Item[],
  json: true | undefined,
  heads: readonly string[],
  toRow: (item: Item) => readonly string[],
): void {
  if (json) for (const item of items) printJson(item)
  else if (items.length > 0) printTable(heads, items.map(toRow))
}

function rowOf({ id, url, kinds, failing_since, disabled_at }: WebhookItem): string[] {
  const state = disabled_at !== null ? 'disabled' : failing_since !== null ? 'failing' : 'works'
  return [String(id), state, kinds === null ? 'all' : kinds.join(','), url]
}

function deliveryRowOf({ id, at, kind, state, status, failure, next_at }: WebhookDeliveryItem): string[] {
  const why = failure === null ? '' : ` (${failure === 'status' ? status : failure})`
  return [String(id), shortTime(at), kind, `${state}${why}`, next_at === null ? '' : shortTime(next_at)]
}

function parseNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Give the number from the list.')
  return Number(text)
}
