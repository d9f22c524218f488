/**
 * `npm run bench -- drop`: measures how long many small files take from the drop on the start page until all of them are
 * safe on the server, as a guest in Chromium. Prints a table.
 *
 * npm run bench -- drop [--files N] [--kilobytes N] [--rounds N] [--help]
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, CDPSession } from 'playwright-core'
import { z } from 'zod'
import { launchChromium } from '../test/support/browser/browser.ts'
import { openStartPage } from '../test/support/browser/start-page.ts'
import { median } from './measure.ts'
import { usage } from './process-usage.ts'
import { type MeasuredHoldfast, startMeasuredHoldfast } from './servers.ts'

const HELP = `npm run bench -- drop [options]

Drops many small files on the start page and waits until all of them are safe.

  --files N      how many files; 120 unless told
  --kilobytes N  how large each is; 50 unless told
  --rounds N     how often; 5 unless told, after one that is not counted
  --help         this`

/** Milliseconds of a round trip. */
const LATENCIES = [0, 40, 150]

/** Of one drop. */
interface Drop {
  /** Until all are safe, in seconds. */
  readonly seconds: number
  readonly requests: number
  /** Main thread of the page, in seconds. */
  readonly page: number
  /** Longest time for which the page did not react, in milliseconds. */
  readonly longest: number
  /** Processor time of the server, in milliseconds a file. */
  readonly server: number
}

/** Runs in the page: remembers the longest task, of those over 50 ms. */
const WATCH_TASKS = `
window.longestTask = 0
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.longestTask = Math.max(window.longestTask, duration)
}).observe({ type: 'longtask' })`

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '120' },
    kilobytes: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit()
}
const [count, size, rounds] = [Number(values.files), Number(values.kilobytes) * 1000, Number(values.rounds)]

const folder = mkdtempSync(join(tmpdir(), 'holdfast-drop-'))
const settings = { HOLDFAST_GUEST_RATE_LIMIT: '1000000' }
const server = await startMeasuredHoldfast(join(folder, 'holdfast'), { settings })
try {
  await using browser = await launchChromium()
  console.log(`${count} files of ${size / 1000} KB\n`)
  console.log(
    '| round trip | all safe, s | requests a file | page, s CPU | longest task, ms | server, ms CPU a file |',
  )
  console.log('|---|---:|---:|---:|---:|---:|')
  for (const latency of LATENCIES) {
    const found: Drop[] = []
    for (let round = 0; round <= rounds; round++) found.push(await drop(browser, server, latency, round))
    const [, ...kept] = found
    const middle = (key: keyof Drop) => median(kept.map((each) => each[key]))
    const cells = [
      `${latency} ms`,
      middle('seconds').toFixed(2),
      (middle('requests') / count).toFixed(1),
      middle('page').toFixed(2),
      middle('longest').toFixed(0),
      middle('server').toFixed(1),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}

/** One drop on a page of its own, of files that were never sent before. */
async function drop(browser: Browser, to: MeasuredHoldfast, latency: number, round: number): Promise<Drop> {
  const paths = writeFiles(`${latency}-${round}`)
  await using start = await openStartPage(browser, to.url)
  const { page } = start
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  const line = { offline: false, latency, downloadThroughput: -1, uploadThroughput: -1 }
  await devtools.send('Network.emulateNetworkConditions', line)
  await devtools.send('Performance.enable')
  await page.waitForLoadState('networkidle')
  await page.evaluate(WATCH_TASKS)
  const before = { cpu: usage(to.pids).cpuSeconds, page: await taskSeconds(devtools), at: performance.now() }
  await start.drop(paths)
  await page.getByRole('heading', { name: `${count} files uploaded` }).waitFor({ timeout: 120_000 })
  const seconds = (performance.now() - before.at) / 1000
  return {
    seconds,
    requests: start.requests.length,
    page: (await taskSeconds(devtools)) - before.page,
    longest: z.number().parse(await page.evaluate('window.longestTask')),
    server: ((usage(to.pids).cpuSeconds - before.cpu) * 1000) / count,
  }
}

function writeFiles(name: string): string[] {
  const at = join(folder, name)
  mkdirSync(at)
  return Array.from({ length: count }, (_, index) => {
    const path = join(at, `holiday-${name}-${index}.jpg`)
    writeFileSync(path, randomBytes(size))
    return path
  })
}

async function taskSeconds(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
}
