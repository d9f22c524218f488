import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { loadConfig } from '../../config.ts'
import { stateName } from '../../contents/mark-copies.ts'
import type { MirrorCommand, MirrorReport, MirrorStep } from '../../contents/mirror.ts'
import { MINUTE, SECOND, systemClock } from '../../domain/clock.ts'
import { systemRandom } from '../../domain/random.ts'
import { formatSize } from '../../domain/sizes.ts'
import type { Log } from '../../log.ts'
import { ProblemsFound } from '../failure.ts'
import { readRate } from '../options.ts'
import { count, formatTime, printJson, printLines, printProblem, printTable } from '../output.ts'
import { type StepTitle, standardError, stepProgress } from '../step-progress.ts'
import { abortedBySignal } from '../stop-signal.ts'
import { REASONS } from './check.ts'
import { silent, stopWithServer } from './server-child.ts'

interface Options {
  readonly now?: true
  readonly rate?: number
  readonly readData?: number | true
  readonly adopt?: true
  readonly json?: true
  readonly forServer?: true
}

const titles = {
  copy: { title: 'Copying to the mirror', counts: 'bytes' },
  read: { title: 'Reading the mirror', counts: 'bytes' },
} as const satisfies Record<MirrorStep, StepTitle>

/** Exits with 3 when the mirror is behind, or copies in it are damaged. */
export function mirrorCommand(mirror: Command, environment: Environment): void {
  mirror
    .description('say how much of the files the mirror has, with or without a running server')
    .option('--now', 'bring back what is damaged and copy what is missing, now, and wait for it')
    .addOption(
      new Option(
        '--rate <size>',
        'copy at most so many bytes a second (50MB), in place of HOLDFAST_MIRROR_RATE',
      )
        .argParser(readRate)
        .implies({ now: true }),
    )
    .option(
      '--read-data [share]',
      'also read copies and compare their hashes: all, or by chance a share (5%)',
      readShare,
    )
    .option(
      '--adopt',
      'take the place for the mirror of this installation: an empty one, or after a restore or a relocation the one there was',
    )
    .option(
      '--json',
      'print {"place","series","number","mirrored_contents","mirrored_bytes","lacking_contents","lacking_bytes","oldest_seconds","damaged",…}',
    )
    // As a server's child: prints failures of single contents, and stops at the end of its input.
    .addOption(new Option('--for-server').implies({ now: true }).hideHelp())
    .action((options: Options) => run(environment, options))
}

/** Throws InvalidArgumentError. */
function readShare(text: string): number {
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text)?.[1]
  if (percent !== undefined && Number(percent) <= 100) return Number(percent) / 100
  throw new InvalidArgumentError('Allowed is a share such as 5%.')
}

/** Milliseconds that a content may normally wait for its copy. */
const LONG = 10 * MINUTE

async function run(environment: Environment, options: Options): Promise<void> {
  const { now, rate, readData, adopt, json, forServer } = options
  const config = loadConfig(environment)
  const { runMirrorCommand, runMirrorForServer } = await import('../../contents/mirror.ts')
  const stop = abortedBySignal('stopped; the same command goes on from here')
  const input = forServer ? stopWithServer(stop) : null
  const progress = forServer ? silent : stepProgress(titles, standardError, systemClock)
  // The server begins at the other end, so that both meet in the middle.
  const order = forServer ? 'newest first' : 'oldest first'
  const command: MirrorCommand = {
    config,
    clock: systemClock,
    random: systemRandom,
    adopts: adopt === true,
    keeps: now ? order : null,
    reads: readData === true ? 1 : (readData ?? null),
    rate: rate ?? null,
    signal: stop.signal,
    watch: progress,
    log: problemLog,
  }
  if (forServer) return runMirrorForServer(command).finally(() => input?.end())
  const report = await runMirrorCommand(command).finally(progress.end)
  if (json) printJson(jsonOf(report))
  else print(report)
  const { lacking, waited, read } = report
  const isBehind = now ? lacking.count > 0 : waited > LONG
  if (isBehind || (read !== null && read.wrongCopies > 0)) throw new ProblemsFound()
}

const problemLog: Log = {
  debug() {},
  info() {},
  warn: tell,
  error: tell,
}

function tell({ err, key }: Parameters<Log['error']>[0], message: string): void {
  const about = err instanceof Error ? `: ${err.message}` : typeof key === 'string' ? `: content ${key}` : ''
  printProblem(`${message}${about}`)
}

function jsonOf({ place, state, mirrored, lacking, waited, adopted, read }: MirrorReport) {
  return {
    place,
    series: state?.series ?? null,
    number: state?.number ?? null,
    mirrored_contents: mirrored.count,
    mirrored_bytes: mirrored.bytes,
    lacking_contents: lacking.count,
    lacking_bytes: lacking.bytes,
    oldest_seconds: Math.round(waited / SECOND),
    damaged: read?.wrong ?? [],
    read_contents: read?.contents ?? 0,
    read_bytes: read?.bytes ?? 0,
    adopted,
  }
}

function print({ place, state, mirrored, lacking, waited, isOnSameDisk, adopted, read }: MirrorReport): void {
  if (adopted !== null) {
    printLines(
      `${place} is the mirror now. Of the copies that were noted, ${adopted.kept} are there and ${adopted.missing} are not.`,
    )
    if (adopted.unknown > 0) {
      printLines(`Copies that belong to no content: ${adopted.unknown}. They will be removed in a day.`)
    }
  }
  if (adopted?.authenticated === false) {
    printLines('Its mark was not written by this installation, nor by one that this was restored from.')
  }
  if (state !== null) printLines(`Its mark is ${stateName(state)}.`)
  printLines(`${place} has ${count(mirrored.count, 'content')} with ${formatSize(mirrored.bytes)}.`)
  if (lacking.count === 0) printLines('Nothing waits to be copied.')
  else {
    printLines(
      `${count(lacking.count, 'content')} with ${formatSize(lacking.bytes)} ${lacking.count === 1 ? 'waits' : 'wait'} to be copied, the oldest for ${formatTime(waited)}.`,
    )
  }
  if (isOnSameDisk) {
    printLines('It lies on the disk of the data folder: whatever destroys the one destroys the other.')
  }
  if (read !== null) printRead(read)
}

function printRead({ contents, bytes, wrongCopies, wrong }: NonNullable<MirrorReport['read']>): void {
  printLines(`Looked at ${count(contents, 'content')} there, and read ${formatSize(bytes)}.`)
  if (wrongCopies === 0) return
  printLines('', `Damaged copies, which will be made anew: ${wrongCopies}.`)
  printTable(
    ['COPY', 'WHAT IS WRONG'],
    wrong.map(({ key, reason }) => [key, REASONS[reason]]),
  )
}
