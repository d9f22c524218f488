/**
 * `npm run bench -- pages`: measures how fast pages load on a phone, emulated by a browser with a CPU slowed
 * down four times and a line of 1.6 Mbit/s. Prints a table.
 *
 * npm run bench -- pages [--rounds N] [--help]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser } from 'playwright-core'
import { z } from 'zod'
import { landscape } from '../test/screenshots/landscapes.ts'
import { launchChromium, PHONE } from '../test/support/browser/browser.ts'
import { median } from './measure.ts'
import { startMeasuredHoldfast } from './servers.ts'

const CPU_SLOWDOWN = 4
/** Bytes per second. */
const LINE = 1.6e6 / 8

interface Asked {
  readonly title: string
  readonly path: string
  /** Selector of the element with which the page is usable. */
  readonly usable: string
}

const times = z.object({ shown: z.number(), usable: z.number(), bytes: z.number() })
type Times = z.infer<typeof times>

const HELP = `npm run bench -- pages [options]

Measures how fast pages load on a phone: a slow CPU, and a line of 1.6 Mbit/s.

  --rounds N  how often each page is opened; 7 unless told, after one visit that is not counted
  --help      this`

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, help: { type: 'boolean', default: false } },
})
if (values.help) {
  console.log(HELP)
  process.exit()
}
const rounds = Number(values.rounds)

const folder = mkdtempSync(join(tmpdir(), 'holdfast-pages-'))
const server = await startMeasuredHoldfast(join(folder, 'holdfast'))
try {
  const pages = await preparePages()
  await using browser = await launchChromium()
  console.log('| page | round trip | shown, ms | usable, ms | loaded by then, KB |')
  console.log('|---|---:|---:|---:|---:|')
  for (const page of pages) {
    for (const latency of [0, 150]) {
      const found: Times[] = []
      for (let round = 0; round <= rounds; round++) found.push(await measure(browser, page, latency))
      // The first round is dropped: the server has not rendered the page before.
      const [, ...kept] = found
      const middle = (key: keyof Times) => Math.round(median(kept.map((each) => each[key])))
      const bytes = (middle('bytes') / 1000).toFixed(0)
      console.log(`| ${page.title} | ${latency} ms | ${middle('shown')} | ${middle('usable')} | ${bytes} |`)
    }
  }
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}

async function preparePages(): Promise<Asked[]> {
  const key = await server.addAccount('bench')
  const authorization = { authorization: `Bearer ${key}` }
  const made = await fetch(`${server.url}/api/v1/folder`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Pictures' }),
  })
  const { data } = z.object({ data: z.object({ identifier: z.string() }) }).parse(await made.json())
  const put = async (name: string, content: Uint8Array<ArrayBuffer> | string) => {
    const form = new FormData()
    form.set('file', new File([content], name))
    const headers = { ...authorization, 'x-folder-id': data.identifier }
    const answer = await fetch(`${server.url}/api/v1/upload`, { method: 'POST', headers, body: form })
    return z.object({ slug: z.string() }).parse(await answer.json()).slug
  }
  for (let at = 0; at < 40; at++) await put(`${at}.jpg`, await landscape(at, 800))
  const other = await put('data.bin', 'not to be shown')
  return [
    { title: 'start', path: '/', usable: '.zone[data-alive]' },
    { title: 'file without a preview', path: `/d/${other}`, usable: 'a[href*="download"]' },
    { title: 'folder of 40 pictures', path: `/f/${data.identifier}`, usable: '.file-item a' },
  ]
}

/** One visit with an empty cache, in milliseconds from the click on a link. */
async function measure(browser: Browser, { path, usable }: Asked, latency: number): Promise<Times> {
  await using context = await browser.newContext({ ...PHONE, baseURL: server.url })
  const page = await context.newPage()
  await page.addInitScript({ content: watching(usable) })
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency,
    downloadThroughput: LINE,
    uploadThroughput: LINE,
  })
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN })
  await page.goto(path)
  return times.parse(await page.evaluate('window.timesOfPage'))
}

/**
 * Script that runs in the page before its own: records the first contentful paint, and when the element
 * appears.
 */
function watching(usable: string): string {
  return `
  window.timesOfPage = new Promise((resolve) => {
    const painted = new Promise((paint) => {
      new PerformanceObserver((list) => {
        const [first] = list.getEntriesByName('first-contentful-paint')
        if (first) paint(first.startTime)
      }).observe({ type: 'paint', buffered: true })
    })
    const look = async () => {
      if (document.querySelector(${JSON.stringify(usable)}) === null) return requestAnimationFrame(look)
      const now = performance.now()
      const shown = await painted
      const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      const bytes = loaded.reduce((sum, { transferSize }) => sum + transferSize, 0)
      resolve({ shown, usable: Math.max(now, shown), bytes })
    }
    look()
  })`
}
