/** The file manager of one person in two browsers, each at a node of its own. */
// Only in test:all: three nodes.
import { expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { describeInBrowser, openPage, PHONE, type Visit } from '../support/browser/browser.ts'
import { filesPageIn } from '../support/browser/files-page.ts'
import { onSharedServers, sharedInstallation } from '../support/servers/shared-installation.ts'

const PERSON = { username: 'ada', password: 'correct horse battery' }

/** Opens the form at the path and sends it, which leads to one's files. */
async function enter(visit: Visit, path: '/sign-up' | '/sign-in'): Promise<void> {
  const { page } = visit
  await page.goto(path)
  await page.getByLabel('User name').fill(PERSON.username)
  await page.getByLabel('Password').fill(PERSON.password)
  const button = path === '/sign-up' ? 'Create account' : 'Sign in'
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.waitForURL('**/files')
}

onSharedServers('on PostgreSQL and S3', () => {
  describeInBrowser('somebody who is signed in twice', (browser: () => Browser) => {
    test('sees in each browser what the other one does, and is out of one as soon as the other ends its session', async () => {
      await using installation = await sharedInstallation()
      const [one, other] = await Promise.all([1, 2].map(() => installation.startNode({ SIGN_UP: 'open' })))
      await using desk = await openPage(browser(), one?.url ?? '')
      await using phone = await openPage(browser(), other?.url ?? '', PHONE)
      await enter(desk, '/sign-up')
      await enter(phone, '/sign-in')
      const atDesk = await filesPageIn(desk)
      const onPhone = await filesPageIn(phone)

      await desk.page
        .locator('input[type="file"]')
        .first()
        .setInputFiles([
          { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('one') },
          { name: 'two.txt', mimeType: 'text/plain', buffer: Buffer.from('two') },
        ])
      await onPhone.lists('one.txt', 'two.txt')
      await onPhone.button('Actions for one.txt').tap()
      await phone.page.getByRole('menuitem', { name: 'Delete' }).tap()
      await atDesk.lists('two.txt')
      await atDesk.button('Bin').click()
      await atDesk.button('Restore: one.txt').click()
      await onPhone.lists('one.txt', 'two.txt')

      await desk.page.evaluate("fetch('/api/v1/sessions', { method: 'DELETE' })")
      await phone.page.reload()
      await phone.page.waitForURL('**/sign-in?next=**')
      await desk.page.reload()
      await atDesk.lists('one.txt', 'two.txt')
      expect([...atDesk.trouble(), ...onPhone.trouble()]).toEqual([])
    }, 300_000)
  })
})
