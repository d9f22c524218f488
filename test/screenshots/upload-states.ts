/** Uploads on the start page: every cause for which one waits or fails, and what can be done about it. */
import type { Page, Route } from 'playwright-core'
import { chosenFile } from '../support/browser/start-page.ts'
import { said } from './said.ts'
import { ARABIC, LONG } from './states-demo.ts'
import { open, type State } from './visiting.ts'

const MIB = 1024 ** 2

export function uploadStates(): State[] {
  const refused =
    (error: string, status: number, headers: Record<string, string> = {}) =>
    (route: Route) =>
      route.fulfill({ status, headers, json: { success: false, message: '', error } })
  const later = { 'Retry-After': '600' }
  const causes: Readonly<Record<string, (route: Route) => Promise<void>>> = {
    full: refused('STORAGE_UNAVAILABLE', 503, later),
    restarting: refused('SHUTTING_DOWN', 503, later),
    broken: refused('INTERNAL_ERROR', 500, later),
    slow: refused('REQUEST_TIMEOUT', 408, later),
    rate: refused('RATE_LIMITED', 429, later),
    unreachable: (route) => route.abort('connectionrefused'),
  }
  const waiting = Object.entries(causes).map(([cause, answer]) => ({
    name: `upload-${cause}`,
    async show(page: Page) {
      await open(page, '/')
      await page.route('**/api/v1/uploads', answer)
      await choose(page, LONG, ARABIC)
      await page.locator('.upload[data-state="waiting"]').first().waitFor()
    },
  }))
  const problems: Readonly<Record<string, readonly [string, number]>> = {
    'a.txt': ['STORAGE_LIMIT_EXCEEDED', 413],
    [LONG]: ['CONTENT_REFUSED', 403],
    [ARABIC]: ['NOT_SIGNED_IN', 401],
    'guest.txt': ['GUEST_UPLOADS_DISABLED', 403],
    'other.txt': ['SOMETHING_ELSE', 400],
  }
  return [
    ...waiting,
    {
      name: 'upload-offline',
      async show(page) {
        await open(page, '/')
        await page.route('**/api/v1/uploads', (route) => route.abort('internetdisconnected'))
        await choose(page, 'a.txt')
        await page.locator('.upload[data-state="waiting"]').waitFor()
        await page.context().setOffline(true)
        await page.getByRole('button', { name: said(/^Try now/) }).click()
        await page.getByText(said('You are offline.')).first().waitFor()
      },
    },
    {
      name: 'upload-refused',
      async show(page) {
        await open(page, '/')
        await page.route('**/api/v1/uploads', (route) => {
          const given = route.request().headers()['upload-metadata'] ?? ''
          const name = Buffer.from(/filename ([^,]+)/.exec(given)?.[1] ?? '', 'base64').toString()
          const [error, status] = problems[name] ?? ['INTERNAL_ERROR', 500]
          return refused(error, status)(route)
        })
        await choose(page, ...Object.keys(problems))
        await page.locator('.upload[data-state="failed"]').nth(4).waitFor()
      },
    },
    {
      name: 'upload-done',
      async show(page) {
        await open(page, '/')
        await choose(page, 'a.txt', LONG, ARABIC)
        await page.locator('.upload[data-state="done"]').nth(2).waitFor()
        await fromMenu(page, ARABIC, 'Delete')
        await page.getByRole('button', { name: said('QR code') }).click()
        await page.locator('svg.qr').waitFor()
      },
    },
    {
      name: 'upload-earlier',
      async show(page) {
        await open(page, '/')
        await choose(page, 'a.txt', LONG, ARABIC)
        await page.locator('.upload[data-state="done"]').nth(2).waitFor()
        await choose(page, 'b.txt')
        await page.locator('.earlier summary').click()
      },
    },
    {
      name: 'upload-paused',
      async show(page) {
        await open(page, '/')
        const line = await page.context().newCDPSession(page)
        const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: MIB / 4 }
        await line.send('Network.emulateNetworkConditions', slow)
        const files = [LONG, ARABIC].map((name) => chosenFile(name, Buffer.alloc(4 * MIB)))
        await page.locator('.zone-field').setInputFiles(files)
        await page.locator('.upload[data-state="sending"]').nth(1).waitFor()
        await fromMenu(page, LONG, 'Pause')
        await fromMenu(page, ARABIC, 'Cancel')
      },
    },
  ]
}

async function fromMenu(page: Page, name: string, label: string): Promise<void> {
  const row = page.locator('.upload').filter({ has: page.getByTitle(name, { exact: true }) })
  await row.locator('.row-menu').click()
  await row.getByRole('menuitem', { name: said(label), exact: true }).click()
}

async function choose(page: Page, ...names: readonly string[]): Promise<void> {
  const files = names.map((name) => chosenFile(name, Buffer.from(name)))
  await page.locator('.zone-field').setInputFiles(files)
}
