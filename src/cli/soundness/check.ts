import { type Command, InvalidArgumentError } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { loadConfig } from '../../config.ts'
import { systemClock } from '../../domain/clock.ts'
import { systemRandom } from '../../domain/random.ts'
import { formatSize, parseSize } from '../../domain/sizes.ts'
import type { CheckResult, Progress, ReadData } from '../../operations/integrity/check.ts'
import { printJson, printLines, printTable } from '../output.ts'
import { linkAddress } from '../places.ts'
import { FaultsFound } from './faults-found.ts'

interface Options {
  readonly readData?: ReadData | true
  readonly json?: true
}

const NOTHING: ReadData = { kind: 'nothing' }
const EVERYTHING: ReadData = { kind: 'share', share: 1 }

/** `holdfast check`: exits with 3 when it finds damage. */
export function checkCommand(check: Command, environment: Environment): void {
  check
    .description('look whether every byte that was promised is still there, with or without a running server')
    .option(
      '--read-data [share]',
      'also read contents and compare their hashes: all, or by chance a share (5%) or about so many bytes (100GB)',
      readShare,
    )
    .option('--json', 'print {"checked_files","checked_bytes","damaged","orphans","sums"}')
    .action((options: Options) => run(environment, options))
}

/** Throws InvalidArgumentError, which commander shows. */
function readShare(text: string): ReadData {
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text)?.[1]
  if (percent !== undefined && Number(percent) <= 100) return { kind: 'share', share: Number(percent) / 100 }
  const bytes = percent === undefined ? parseSize(text) : null
  if (bytes !== null) return { kind: 'bytes', bytes }
  throw new InvalidArgumentError('Allowed is a share such as 5%, or a size such as 100GB.')
}

async function run(environment: Environment, { readData, json }: Options): Promise<void> {
  const config = loadConfig(environment)
  const { checkInstallation } = await import('../../operations/integrity/check.ts')
  const bar = progressLine()
  const result = await checkInstallation({
    config,
    clock: systemClock,
    random: systemRandom,
    readData: readData === true ? EVERYTHING : (readData ?? NOTHING),
    tell: bar.tell,
  }).finally(bar.end)
  if (json) printJson(jsonOf(result))
  else printResult(result, (slug) => linkAddress(config, { path: `/d/${slug}` }))
  if (result.damaged.length > 0 || result.sums.length > 0) throw new FaultsFound()
}

function jsonOf({ checkedFiles, checkedBytes, damaged, orphans, sums }: CheckResult) {
  return { checked_files: checkedFiles, checked_bytes: checkedBytes, damaged, orphans, sums }
}

const REASONS = {
  missing: 'its bytes are gone',
  size: 'its bytes have another size',
  hash: 'its bytes have changed',
} as const

function printResult(result: CheckResult, linkOf: (slug: string) => string): void {
  const { checkedFiles, checkedContents, checkedBytes, damaged, orphans, sums } = result
  const read = checkedBytes > 0 ? `, and ${formatSize(checkedBytes)} were read` : ''
  printLines(`${checkedFiles} files with ${checkedContents} contents were looked at${read}.`)
  if (damaged.length > 0) {
    printLines('', `${damaged.length} files are damaged:`)
    printTable(
      ['LINK', 'OWNER', 'NAME', 'WHAT IS WRONG', 'CONTENT'],
      damaged.map(({ slug, owner, name, reason, key }) => [linkOf(slug), owner, name, REASONS[reason], key]),
    )
    printLines('', 'Bring the content back from a backup, or upload the same file again.')
  }
  if (sums.length > 0) printLines('', 'These do not add up:', ...sums.map((line) => `  ${line}`))
  if (orphans.length > 0) {
    printLines(
      '',
      `${orphans.length} contents in the store belong to no file. They do no harm but take up space.`,
    )
  }
  if (damaged.length === 0 && sums.length === 0) printLines('All is well.')
}

/** One line on a terminal that is written over. Nothing elsewhere. */
function progressLine(): { tell(progress: Progress): void; end(): void } {
  const { stderr } = process
  let width = 0
  return {
    tell({ contents, of, bytesRead }) {
      if (!stderr.isTTY) return
      const text = `${contents} of ${of} contents${bytesRead > 0 ? `, ${formatSize(bytesRead)} read` : ''}`
      stderr.write(`\r${text.padEnd(width)}`)
      width = text.length
    },
    end() {
      if (width > 0) stderr.write(`\r${''.padEnd(width)}\r`)
    },
  }
}
