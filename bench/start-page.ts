/**
 * How soon the start page can be used on a phone of the middle range: a processor four times slower than this one and
 * 1.6 Mbit/s, with nothing cached.
 *
 *   bun bench/start-page.ts
 */
import { type Browser, chromium } from 'playwright-core'
import { z } from 'zod'
import { startChild, temporaryFolder } from '../test/support/child.ts'

const RUNS = 5
const SLOWER = 4
/** Bytes a second. */
const LINE = 1_600_000 / 8
/** Milliseconds of a way there and back: of a good line, and of a mobile one. */
const LATENCIES = [20, 150]

const timing = z.object({ painted: z.number(), usable: z.number() })
type Timing = z.infer<typeof timing>

/** Runs in the page: usable is it when its script has taken it over. */
const noteUsable = `window.usable = new Promise((resolve) => {
  const look = () => {
    if (document.querySelector('.zone[data-alive]') === null) return requestAnimationFrame(look)
    const painted = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0
    resolve({ painted, usable: performance.now() })
  }
  look()
})`

using folder = temporaryFolder()
const server = await startChild(folder.path, { PORT: '0' })
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
console.log(`processor ${SLOWER} times slower, ${(LINE * 8) / 1e6} Mbit/s; milliseconds, medians of ${RUNS}`)
for (const latency of LATENCIES) {
  const runs: Timing[] = []
  for (let run = 0; run < RUNS; run++) runs.push(await measure(browser, server.url, latency))
  const painted = median(runs.map((run) => run.painted))
  const usable = median(runs.map((run) => run.usable))
  console.log(`${latency} ms of latency: painted after ${painted}, usable after ${usable}`)
}
await browser.close()
await server.stop()

async function measure(from: Browser, url: string, latency: number): Promise<Timing> {
  const context = await from.newContext({
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
  })
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency,
    downloadThroughput: LINE,
    uploadThroughput: LINE,
  })
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  await page.addInitScript({ content: noteUsable })
  await page.goto(url)
  const timed = timing.parse(await page.evaluate('usable'))
  await context.close()
  return timed
}

function median(numbers: readonly number[]): number {
  return Math.round([...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN)
}
