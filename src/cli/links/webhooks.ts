import { type Command, InvalidArgumentError, Option } from 'commander'
import type { WebhookDeliveryItem, WebhookItem } from '../../client/answers.ts'
import type { WebhooksApi } from '../../client/webhooks-api.ts'
import type { Environment } from '../../config/environment.ts'
import { printJson, printPairs, printTable, shortTime } from '../output.ts'
import { asClient, openApi, type ServerOption } from '../session.ts'

interface Options extends ServerOption {
  readonly add?: string
  readonly change?: number
  readonly url?: string
  readonly kinds?: readonly string[] | 'all'
  readonly test?: number
  readonly log?: number
  readonly replay?: number
  readonly enable?: number
  readonly remove?: number
  readonly json?: true
}

export function webhooksCommand(webhooks: Command, environment: Environment): void {
  webhooks
    .description(
      'list the addresses that are told what happens to your links, or add, change, test or remove one',
    )
    .addOption(
      oneOf(
        new Option('--add <url>', 'add this address, and print the secret that signs what is sent there'),
      ),
    )
    .addOption(oneOf(numbered('--change <number>', 'change the address or the events of that webhook')))
    .option('--url <url>', 'with --change: the new address, which gets what waits, too')
    .option(
      '--kinds <list>',
      'with --add or --change: only these events, with commas between them, or all',
      (text) => (text === 'all' ? text : text.split(',')),
    )
    .addOption(oneOf(numbered('--test <number>', 'send a test to the webhook of that number')))
    .addOption(oneOf(numbered('--log <number>', 'list what was sent to that webhook, or is to be')))
    .addOption(numbered('--replay <delivery>', 'with --log: send this delivery again'))
    .addOption(oneOf(numbered('--enable <number>', 'use that webhook again after it was disabled')))
    .addOption(oneOf(numbered('--remove <number>', 'remove that webhook')))
    .option('--json', 'print one JSON object a line')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((options: Options, command: Command) => {
      const fault = faultIn(options)
      if (fault !== null) command.error(`error: ${fault}`)
      return asClient(async () => run((await openApi(environment, options)).webhooks, options))
    })
}

function faultIn({ add, change, url, kinds, log, replay }: Options): string | null {
  if (change === undefined) {
    if (url !== undefined) return '--url is the new address of a webhook that is changed with --change.'
    if (kinds !== undefined && add === undefined) {
      return '--kinds says which events go to an address, and needs --add or --change.'
    }
  } else if (url === undefined && kinds === undefined) {
    return '--change needs what is to be changed: --url, --kinds or both.'
  }
  if (replay !== undefined && log === undefined) {
    return '--replay needs the number of the webhook, given with --log.'
  }
  return null
}

const DEEDS = ['add', 'change', 'test', 'log', 'enable', 'remove'] as const

function oneOf(option: Option): Option {
  return option.conflicts(DEEDS.filter((name) => name !== option.attributeName()))
}

function numbered(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseNumber)
}

async function run(api: WebhooksApi, options: Options): Promise<void> {
  const { add, change, url, test, log, replay, enable, remove, json } = options
  const kinds = options.kinds === 'all' ? null : options.kinds
  if (add !== undefined) {
    const { id, secret } = await api.add(add, kinds ?? null)
    if (json) printJson({ id, secret })
    else
      printPairs([
        ['number', String(id)],
        ['secret', secret],
      ])
    return
  }
  if (change !== undefined) {
    return api.change(change, {
      ...(url === undefined ? {} : { url }),
      ...(kinds === undefined ? {} : { kinds }),
    })
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
