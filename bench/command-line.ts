import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { outputFile } from '../test/support/processes/output-file.ts'
import { content } from './content.ts'
import { type Contender, GIB, type Measurement, MIB, OURS, type Scenario } from './measure.ts'
import type { MeasuredHoldfast } from './servers.ts'

export const CLIENT_BIG = 'Command line: upload of one big file'
export const CLIENT_SMALL = 'Command line: upload of many small files'
export const CURL = 'curl -F'

const SMALL = 100 * 1024

export interface CommandLineParts {
  readonly holdfast: MeasuredHoldfast
  readonly key: string
  /** An empty folder for the files to send. */
  readonly scratch: string
  readonly bigSize: number
  readonly smallCount: number
}

/** Path of curl, or null when it is not installed. */
export function findCurl(): string | null {
  return Bun.which('curl')
}

/** Measures the whole command from start to end, as a user experiences it. */
export function commandLineScenarios(parts: CommandLineParts, curl: string): Scenario[] {
  const { bigSize, smallCount } = parts
  mkdirSync(parts.scratch, { recursive: true })
  const big = () => writeFiles(parts.scratch, bigSize, 1)
  const small = () => writeFiles(parts.scratch, SMALL, smallCount)
  return [
    {
      title: CLIENT_BIG,
      unit: 'MiB/s',
      per: 'GiB',
      // The source file, and the server's copy.
      writes: 2 * bigSize,
      contenders: [
        contender(OURS, parts, MIB, big, (files) => ours(parts, files)),
        contender(CURL, parts, MIB, big, (files) => theirs(parts, curl, files)),
      ],
    },
    {
      title: CLIENT_SMALL,
      unit: 'files/s',
      per: 'GiB',
      writes: 2 * smallCount * SMALL,
      contenders: [
        contender(OURS, parts, SMALL, small, (files) => ours(parts, files)),
        contender(CURL, parts, SMALL, small, (files) => theirs(parts, curl, files)),
        contender(`${CURL}, one process`, parts, SMALL, small, (files) => theirsAtOnce(parts, curl, files)),
      ],
    },
  ]
}

interface Command {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Matches once per uploaded file. */
  readonly answer: RegExp
}

function ours({ holdfast, key, scratch }: CommandLineParts, files: readonly string[]): Command {
  return {
    words: [process.execPath, join(import.meta.dir, '../src/main.ts'), 'upload', ...files],
    env: {
      HOLDFAST_SERVER: holdfast.url,
      HOLDFAST_API_KEY: key,
      XDG_CONFIG_HOME: join(scratch, 'config'),
      XDG_STATE_HOME: join(scratch, 'state'),
    },
    answer: /\/d\/\w+$/gm,
  }
}

/** One curl process after another, like a loop in a shell. */
function theirs(parts: CommandLineParts, curl: string, files: readonly string[]): Command {
  const { holdfast, key } = parts
  const loop =
    'curl=$1 url=$2 key=$3; shift 3; for file; do "$curl" -s -F "file=@$file" -H "$key" "$url"; done'
  const words = [
    'sh',
    '-c',
    loop,
    'sh',
    curl,
    `${holdfast.url}/api/v1/upload`,
    `Authorization: Bearer ${key}`,
  ]
  return { words: [...words, ...files], env: {}, answer: ANSWER }
}

/** A single curl process, which keeps its connection. */
function theirsAtOnce(parts: CommandLineParts, curl: string, files: readonly string[]): Command {
  const { holdfast, key, scratch } = parts
  const requests = files.map(
    (file) =>
      `url = "${holdfast.url}/api/v1/upload"\nheader = "Authorization: Bearer ${key}"\nform = "file=@${file}"\n`,
  )
  const config = join(scratch, 'curl.config')
  writeFileSync(config, requests.join('next\n'))
  return { words: [curl, '-s', '-K', config], env: {}, answer: ANSWER }
}

const ANSWER = /"slug"/g

function contender(
  name: string,
  parts: CommandLineParts,
  unit: number,
  write: () => string[],
  command: (files: readonly string[]) => Command,
): Contender {
  return {
    name,
    async run(): Promise<Measurement> {
      const files = write()
      const { words, env, answer } = command(files)
      const start = performance.now()
      const said = outputFile()
      const child = Bun.spawn([...words], {
        env: { PATH: process.env.PATH ?? '', HOME: parts.scratch, ...env },
        stdin: 'ignore',
        stdout: said.descriptor,
        stderr: 'inherit',
      })
      const code = await child.exited
      const seconds = (performance.now() - start) / 1000
      said.close()
      const output = said.text()
      const bytes = files.reduce((sum, file) => sum + Bun.file(file).size, 0)
      for (const file of files) rmSync(file)
      const taken = output.match(answer)?.length ?? 0
      if (code !== 0 || taken !== files.length) {
        throw new Error(
          `${name} ended with ${code}, having sent ${taken} of ${files.length} files: ${output.slice(0, 500)}`,
        )
      }
      const used = child.resourceUsage()
      return {
        rate: bytes / unit / seconds,
        cpu: used === undefined ? null : Number(used.cpuTime.total) / 1e6 / (bytes / GIB),
        // For a small program this value is inherited from the process that started it.
        peakBytes: name === OURS ? (used?.maxRSS ?? null) : null,
      }
    },
  }
}

/** Number of the next content; unique within a run. */
let nextNumber = 2_000_000_000

/** Writes files and syncs them, so that no upload competes with the writing of its source. */
function writeFiles(folder: string, size: number, count: number): string[] {
  const files = Array.from({ length: count }, () => {
    const path = join(folder, `${nextNumber}.bin`)
    const file = openSync(path, 'w')
    for (const piece of content(size, nextNumber)) writeSync(file, piece)
    closeSync(file)
    nextNumber += 1
    return path
  })
  const { exitCode } = Bun.spawnSync(['sync', '--file-system', folder])
  if (exitCode !== 0) throw new Error(`sync ended with ${exitCode}`)
  return files
}
