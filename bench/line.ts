/**
 * `npm run bench -- line`: measures how long one file takes over a line with a round trip and a rate of each connection, in
 * one connection of curl, in four at once, by the command line and by the start page. Prints a table.
 *
 * npm run bench -- line [--mebibytes N] [--rate N] [--trip N] [--rounds N] [--help]
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launchChromium } from '../test/support/browser/browser.ts'
import { openStartPage } from '../test/support/browser/start-page.ts'
import { startLongLine } from '../test/support/network/long-line.ts'
import { MIB, median } from './measure.ts'
import { startMeasuredHoldfast } from './servers.ts'

const HELP = `npm run bench -- line [options]

Sends one file over a line whose connections have a rate each.

  --mebibytes N  size of the file; 256 unless told
  --rate N       MiB a second of one connection; 8 unless told
  --trip N       milliseconds of a round trip; 150 unless told
  --rounds N     how often; 3 unless told
  --help         this`

const { values } = parseArgs({
  options: {
    mebibytes: { type: 'string', default: '256' },
    rate: { type: 'string', default: '8' },
    trip: { type: 'string', default: '150' },
    rounds: { type: 'string', default: '3' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit()
}
const [mebibytes, rounds] = [Number(values.mebibytes), Number(values.rounds)]
const folder = mkdtempSync(join(tmpdir(), 'holdfast-line-'))
const server = await startMeasuredHoldfast(join(folder, 'holdfast'))
const browser = await launchChromium()
const line = await startLongLine(server.url, {
  roundTrip: Number(values.trip),
  rate: Number(values.rate) * MIB,
})
try {
  const key = await server.addAccount('line')
  const contenders = [
    { name: 'curl, one connection', send: () => curls(key, 1) },
    { name: 'curl, a quarter on each of four', send: () => curls(key, 4) },
    { name: 'command line', send: () => commandLine(key) },
    { name: 'start page', send: startPage },
  ]
  const taken = contenders.map(({ name }) => ({ name, rates: [] as number[] }))
  for (let round = 0; round < rounds; round++) {
    for (const [number, { send }] of contenders.entries())
      taken[number]?.rates.push(mebibytes / (await send()))
  }
  const four = median(taken[1]?.rates ?? [])
  console.log(`${mebibytes} MiB, ${values.trip} ms, ${values.rate} MiB/s a connection, ${rounds} rounds\n`)
  console.log('| way | MiB/s | of four connections |')
  console.log('|---|---:|---:|')
  for (const { name, rates } of taken) {
    console.log(`| ${name} | ${median(rates).toFixed(1)} | ${(median(rates) / four).toFixed(2)} |`)
  }
} finally {
  await browser.close()
  await line.stop()
  await server.stop()
  rmSync(folder, { recursive: true })
}

/** Seconds until all of them are answered. */
async function curls(key: string, count: number): Promise<number> {
  const paths = Array.from({ length: count }, (_, number) => written(`curl-${number}`, mebibytes / count))
  return seconds(
    paths.map((path) => ['curl', '-sf', '-H', `Authorization: Bearer ${key}`, '-T', path, `${line.url}/`]),
  )
}

async function commandLine(key: string): Promise<number> {
  const main = join(import.meta.dir, '../src/main.ts')
  return seconds([[process.execPath, main, 'upload', written('ours', mebibytes)]], {
    HOLDFAST_SERVER: line.url,
    HOLDFAST_API_KEY: key,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
  })
}

/** From the choice of the file until it is safe. */
async function startPage(): Promise<number> {
  await using start = await openStartPage(browser, line.url)
  const path = written('dropped', mebibytes)
  const began = performance.now()
  await start.choose(path)
  await start.upload('dropped').row.and(start.page.locator('[data-state="done"]')).waitFor({ timeout: 0 })
  return (performance.now() - began) / 1000
}

/** A file of bytes that were never sent before. */
function written(name: string, size: number): string {
  const path = join(folder, name)
  writeFileSync(path, randomBytes(size * MIB))
  return path
}

async function seconds(
  commands: readonly string[][],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const began = performance.now()
  const children = commands.map((command) =>
    Bun.spawn(command, { env: { ...process.env, ...env }, stdout: 'ignore', stderr: 'inherit' }),
  )
  const codes = await Promise.all(children.map(({ exited }) => exited))
  if (codes.some((code) => code !== 0)) throw new Error(`a command failed: ${codes.join(', ')}`)
  return (performance.now() - began) / 1000
}
