/** Administration, as somebody does it who runs the server. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { z } from 'zod'
import { recordLockOut } from '../../src/core/audit-log.ts'
import { setSample } from '../../src/core/figures.rows.ts'
import { noteProxy } from '../../src/core/unknown-proxies.ts'
import { DAY } from '../../src/domain/clock.ts'
import { isoDay } from '../../src/domain/days.ts'
import {
  accessibilityFaults,
  describeInBrowser,
  faultsInBothColours,
  openPage,
  PHONE,
  pixelsBeside,
  readElements,
  smallTargets,
} from '../support/browser/browser.ts'
import { openPageAs } from '../support/browser/signed-in-page.ts'
import { api as caller } from '../support/clients/api.ts'
import { GENEROUS, textBytes, upload } from '../support/clients/public.ts'
import { signedIn, type Visitor } from '../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { administrator, type TestAdministrator } from '../support/sign-in/administrator.ts'

const SECTIONS = ['', '/accounts', '/reports', '/files', '/jobs', '/notice', '/settings', '/audit']

describeInBrowser('administration', (browser) => {
  let host: TestHoldfast
  let root: TestAdministrator
  beforeAll(async () => {
    host = await startHoldfast({ ...GENEROUS, sessionRateLimit: 1_000_000 })
    root = await administrator(host)
  }, 120_000)
  afterAll(() => host.stop())

  const openAs = (person: Visitor, options: BrowserContextOptions = {}) =>
    openPageAs(browser(), host.url, person, options)
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const said = (page: Page, text: string) => page.locator('.notice').filter({ hasText: text }).waitFor()
  /** Returns when all that the page has asked for is there. */
  async function settled(page: Page): Promise<void> {
    await page.locator('.part').first().waitFor()
    await page.waitForSelector('.coming', { state: 'detached' })
  }
  const statusOf = async (path: string) => (await fetch(host.url + path)).status
  const report = (slug: string, reason: string) =>
    caller(host).post('/api/v1/file/report', { slug, reason, text: 'It is ours.' })

  test('is for administrators alone, who find it in their menu', async () => {
    await using opened = await openPage(browser(), host.url)
    const { page } = opened
    await page.goto('/admin/accounts?account=7')
    expect(page.url()).toBe(`${host.url}/sign-in?next=%2Fadmin%2Faccounts%3Faccount%3D7`)
    await using ordinary = await openAs(await signedIn(host, (await host.addAccount()).username))
    expect((await ordinary.page.goto('/admin'))?.status()).toBe(403)
    const menu = ordinary.page.locator('.who-menu')
    expect([await menu.count(), await menu.locator('a[href="/admin"]').count()]).toEqual([1, 0])
    expect(await ordinary.page.locator('#admin-app').count()).toBe(0)
    await using ruling = await openAs(root)
    expect((await ruling.page.goto('/admin/nothing'))?.status()).toBe(404)
    await ruling.page.getByRole('button', { name: 'root' }).click()
    await ruling.page.locator('#account-menu').getByText('Administration').click()
    await ruling.page.waitForURL(`${host.url}/admin`)
    expect(ruling.trouble()).toEqual([])
  })

  test.each([
    ['on a desktop', {}],
    ['on a phone, in German', { ...PHONE, locale: 'de-DE' }],
  ] as const)('has no fault in light and in dark %s', async (_, screen) => {
    const { id, username, apiKey: key } = await host.addAccount()
    for (const name of ['kept.png', 'a name that is much longer than the room on a phone.txt']) {
      const { slug } = await upload(host, { key, name, bytes: textBytes(`${username} ${name}`) })
      await report(slug, 'copyright')
    }
    await root.act('POST', '/take-down', {
      sha256: new Bun.CryptoHasher('sha256').update(username).digest('hex'),
    })
    await root.act('PATCH', `/account/${id}`, { disabled: true, quota: 5000 })
    await host.runJobs()
    await using opened = await openAs(root, { ...screen, reducedMotion: 'reduce' })
    const { page } = opened
    for (const path of [...SECTIONS, `/accounts?account=${id}`]) {
      await page.goto(`/admin${path}`)
      await settled(page)
      expect({ path, faults: await faultsInBothColours(page) }).toEqual({ path, faults: [] })
      expect({ path, beside: await pixelsBeside(page) }).toEqual({ path, beside: 0 })
      expect({ path, small: await smallTargets(page) }).toEqual({ path, small: [] })
    }
    expect(opened.trouble()).toEqual([])
  })

  test.each([
    ['en-GB', 'is not a trusted proxy'],
    ['de-DE', 'ist kein vertrauenswürdiger Proxy'],
  ])(
    'warns on its overview of a proxy that nobody configured, on a phone too, in %s',
    async (locale, words) => {
      await noteProxy(host.database, { peer: '10.0.0.7', header: 'x-forwarded-for', at: host.clock.now() })
      await using opened = await openAs(root, { ...PHONE, locale })
      const { page } = opened
      await page.goto('/admin')
      await settled(page)
      const warning = page.getByRole('alert').filter({ hasText: words })
      const shown = await warning.textContent()
      for (const part of ['10.0.0.7', 'x-forwarded-for', 'HOLDFAST_TRUSTED_PROXIES='])
        expect(shown).toContain(part)
      expect([await pixelsBeside(page), await faultsInBothColours(page)]).toEqual([0, []])
      expect(opened.trouble()).toEqual([])
    },
  )

  test('fills the rows of its numbers, on each screen', async () => {
    await using opened = await openAs(root)
    const { page } = opened
    await page.goto('/admin')
    await page.locator('.figures').waitFor()
    for (const width of [1440, 768, 390]) {
      await page.setViewportSize({ width, height: 900 })
      const boxes = await Promise.all(
        (await page.locator('.figures > li').all()).map((it) => it.boundingBox()),
      )
      const all = await page.locator('.figures').boundingBox()
      const right = (all?.x ?? 0) + (all?.width ?? 0)
      for (const top of new Set(boxes.map((box) => box?.y))) {
        const ends = boxes.filter((box) => box?.y === top).map((box) => (box?.x ?? 0) + (box?.width ?? 0))
        expect(Math.max(...ends)).toBeCloseTo(right, 0)
      }
    }
  })

  test('shows how it stands and how it went, and leads to what is behind each number', async () => {
    const { apiKey: key } = await host.addAccount()
    await upload(host, { key, name: 'counted.bin', bytes: new Uint8Array(3 * 1024 ** 2) })
    for (const [ago, gigabytes] of [
      [3, 1],
      [1, 2],
    ] as const) {
      const day = isoDay(host.clock.now() - ago * DAY, 'UTC')
      const known = { accounts: 1, files: 1, storage_used: gigabytes * 1024 ** 3 }
      await setSample(host.database, day, known)
    }
    await using opened = await openAs(root)
    const { page } = opened
    await page.goto('/admin?days=7')
    const requests = page.getByRole('figure', { name: 'Requests per day' })
    await requests.getByText('As a table').click()
    expect(await requests.getByRole('row').count()).toBe(8)
    const [today = 0] = (await requests.getByRole('row').last().getByRole('cell').allTextContents()).map(
      (text) => Number(text.replaceAll(',', '')),
    )
    expect(today).toBeGreaterThan(0)
    const traffic = page.getByRole('figure', { name: 'Traffic per day' })
    await traffic.getByText('As a table').click()
    expect(await traffic.getByRole('row').last().textContent()).toMatch(/3(\.\d)? MB$/)
    const stored = page.getByRole('figure', { name: 'Stored' })
    await stored.getByText('As a table').click()
    // Of days before the first that is known there is nothing, and one that is not is as the day before.
    expect(await stored.getByRole('cell').allTextContents()).toEqual([
      '1 GB',
      '1 GB',
      '2 GB',
      expect.stringMatching(/^3(\.\d)? MB$/),
    ])
    await page.getByRole('link', { name: /^Stored \d/ }).click()
    await page.waitForURL(`${host.url}/admin/files?sort=size`)
    await page.locator('.plain-rows li').first().getByTitle('counted.bin').waitFor()
    expect(opened.trouble()).toEqual([])
  })

  test('gives an account its quota, closes and resets it, and deletes it once its name is typed', async () => {
    const { id, username, apiKey: key } = await host.addAccount('quincy')
    const person = await signedIn(host, username)
    const { slug } = await upload(host, { key, name: 'of-quincy.txt' })
    await using opened = await openAs(root)
    const { page } = opened
    await page.goto('/admin/accounts')
    await page.getByLabel('Search by name').fill('quin')
    await button(page, 'Apply').click()
    await page.getByRole('link', { name: username }).click()
    await page.waitForURL(`${host.url}/admin/accounts?account=${id}`)

    const quota = page.getByLabel('Storage limit')
    const save = (field: typeof quota) =>
      page.locator('form').filter({ has: field }).getByRole('button', { name: 'Save' }).click()
    await quota.fill('twenty')
    await save(quota)
    expect(await page.getByRole('alert').textContent()).toContain('Enter a number and a unit')
    await quota.fill('1,5 GB')
    await save(quota)
    await said(page, 'The quota of “quincy” is saved')
    const days = page.getByLabel('Days', { exact: true })
    await page.getByText('deleted after 45 days').waitFor()
    for (const wrong of ['a week', '36501']) {
      await days.fill(wrong)
      await save(days)
      expect(await page.getByRole('alert').textContent()).toContain('whole number of days')
    }
    await days.fill('0')
    await save(days)
    await said(page, 'The days of “quincy” are saved')
    await page.getByText('never deleted').waitFor()
    await days.fill(' 90 ')
    await save(days)
    await page.getByText('deleted after 90 days').waitFor()
    await days.fill('')
    await save(days)
    await page.getByText('deleted after 45 days').waitFor()
    const own = z.object({ storage_limit: z.number() })
    expect((await person.get('/api/v1/account')).data(own).storage_limit).toBe(1.5 * 1024 ** 3)

    await button(page, 'Disable').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
    await said(page, '“quincy” is disabled')
    expect((await person.get('/api/v1/session')).error).toBe('ACCOUNT_DISABLED')
    await button(page, 'Enable').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click()
    await said(page, '“quincy” is enabled')
    expect((await person.get('/api/v1/session')).status).toBe(200)

    await button(page, 'Reset').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
    const link = await page.getByRole('dialog').locator('code').textContent()
    expect(await statusOf(new URL(link ?? '').pathname)).toBe(200)
    expect(await accessibilityFaults(page)).toEqual([])
    await button(page, 'Done').click()
    expect(await page.content()).not.toContain(link)
    expect((await person.get('/api/v1/session')).error).toBe('NOT_SIGNED_IN')

    await button(page, 'Delete the account …').click()
    expect(await button(page, 'Delete for good').isDisabled()).toBe(true)
    await page.getByLabel('Type “quincy” to confirm').fill('Quincy')
    await button(page, 'Delete for good').click()
    await page.waitForURL(`${host.url}/admin/accounts`)
    expect(await statusOf(`/d/${slug}`)).toBe(404)
    expect(opened.trouble()).toEqual([])
  })

  test('makes an invitation, and no account the only one that administers', async () => {
    await using opened = await openAs(root)
    const { page } = opened
    await page.goto('/admin/accounts?state=administrators')
    await button(page, 'Invite somebody').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Invite somebody' }).click()
    const link = await page.getByRole('dialog').locator('code').textContent()
    expect(await statusOf(new URL(link ?? '').pathname)).toBe(200)
    await button(page, 'Done').click()
    await page.getByRole('link', { name: 'root' }).click()
    await button(page, 'Remove administrator rights').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove administrator rights' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('Nobody else administers this server')
    expect(opened.trouble()).toEqual([expect.stringContaining('409 for ')])
  })

  test('takes down what is reported, refuses it from then on, and dismisses the rest', async () => {
    const { apiKey: key } = await host.addAccount()
    const bytes = textBytes('what nobody may have')
    const { slug } = await upload(host, { key, name: 'stolen.txt', bytes })
    const fine = await upload(host, { key, name: 'fine.txt' })
    await report(slug, 'copyright')
    await report(fine.slug, 'spam')
    await using opened = await openAs(root)
    const { page } = opened
    await page.goto('/admin/reports')
    await button(page, 'Dismiss the report on “fine.txt”').click()
    await said(page, 'The report is dismissed')
    await button(page, 'Take down “stolen.txt”').click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.textContent()).toContain('deleted at once, in all accounts')
    await dialog.getByRole('button', { name: 'Take down' }).click()
    await said(page, '1 file was taken down')
    await page.getByTitle('stolen.txt').waitFor({ state: 'detached' })
    expect([await statusOf(`/d/${slug}`), await statusOf(`/d/${fine.slug}`)]).toEqual([404, 200])
    const again = () => caller(host, key).upload('what nobody may have')
    expect(await again()).toMatchObject({ status: 403, body: { error: 'CONTENT_REFUSED' } })

    await page.getByRole('link', { name: 'Closed' }).click()
    await page.getByText('Taken down', { exact: true }).waitFor()
    await page.getByText('Dismissed', { exact: true }).waitFor()
    const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
    const content = page.getByRole('listitem').filter({ hasText: hash })
    await content.getByRole('button').click()
    await dialog.getByRole('button', { name: 'Allow' }).click()
    await said(page, 'The content is allowed')
    expect((await again()).status).toBe(200)

    await page.getByLabel('Link to a file').fill(`${host.url}/d/${fine.slug}`)
    await button(page, 'Take down').last().click()
    const answered = page.waitForResponse((response) => response.request().method() === 'POST')
    await dialog.getByRole('button', { name: 'Take down' }).click()
    expect((await answered).ok()).toBe(true)
    expect(await statusOf(`/d/${fine.slug}`)).toBe(404)
    expect(opened.trouble()).toEqual([])
  })

  test('asks for one icon for all files of a kind, in its lists of files and of reports', async () => {
    const { apiKey: key } = await host.addAccount()
    for (const name of ['one.docx', 'two.docx', 'three.docx']) {
      const { slug } = await upload(host, { key, name })
      await report(slug, 'spam')
    }
    await using opened = await openAs(root)
    const { page } = opened
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    for (const path of ['/admin/files', '/admin/reports']) {
      asked.length = 0
      await page.goto(path)
      await page.getByTitle('three.docx', { exact: true }).waitFor()
      const addresses = await readElements(
        page,
        '.plain-rows li:has([title$=".docx"]) img',
        "it.getAttribute('src')",
        z.string(),
      )
      expect(addresses[0]).toMatch(/^\/assets\/icon-\w{8}-document-DOCX\.svg$/)
      expect(addresses).toEqual(Array.from({ length: 3 }, () => addresses[0] ?? ''))
      expect(asked.filter((address) => address.startsWith('/t/'))).toEqual([])
    }
    expect(opened.trouble()).toEqual([])
  })

  test('shows a notice on all pages until it is taken away', async () => {
    await using opened = await openAs(root)
    await using visiting = await openPage(browser(), host.url)
    const { page } = opened
    const shown = async () => {
      await visiting.page.goto('/')
      const notice = visiting.page.locator('.site-notice')
      return (await notice.isVisible()) ? await notice.textContent() : null
    }
    await page.goto('/admin/notice')
    await page.getByLabel('Text').fill('Maintenance <b>tonight</b>')
    await page.getByLabel('Warning').check()
    await page.getByLabel('Until').fill('2099-01-31T18:30')
    await button(page, 'Show on all pages').click()
    await said(page, 'The notice is saved')
    expect(await shown()).toBe('Maintenance <b>tonight</b>')
    expect(await page.getByLabel('Until').inputValue()).toBe('2099-01-31T18:30')
    await button(page, 'Remove notice').click()
    await said(page, 'The notice is removed')
    expect(await shown()).toBe(null)
    expect(opened.trouble()).toEqual([])
  })

  test('has a job tried again that was set aside', async () => {
    const name = 'purge deleted files'
    const at = host.clock.now()
    await host.database
      .insertInto('jobs')
      .values({ name, failures: 5, failure: 'Error: no store', failed_at: at, ended_at: at })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ failures: 5, failed_at: at }))
      .execute()
    await using opened = await openAs(root)
    const { page } = opened
    await page.goto('/admin/jobs')
    await settled(page)
    const jobs = await page.locator('.plain-rows li').allTextContents()
    expect(jobs).toContainEqual(expect.stringMatching(new RegExp(`^${name}On hold`)))
    await button(page, `Run “${name}” again`).click()
    await said(page, 'The job will run at its next scheduled time')
    expect(opened.trouble()).toEqual([])
  })

  test('says whether the set-up is sound, and what to change', async () => {
    await using opened = await openAs(root)
    const { page } = opened
    await page.goto('/admin/doctor')
    await button(page, 'Look again').waitFor()
    await page.getByRole('heading', { name: 'Public address' }).waitFor()
    const rows = await page.locator('.plain-rows li').allTextContents()
    expect(rows).toContainEqual(
      expect.stringMatching(/^StoreFinestorethe data folder takes, returns and removes bytes$/),
    )
    expect(rows).toContainEqual(
      expect.stringMatching(/^Public addressAdvicepublic-address.*Holdfast: HOLDFAST_PUBLIC_URL=/),
    )
    // The tests' folder may lie in memory, of which the doctor tells.
    const problems = rows.filter((row) => /^.{3,40}Problem[a-z]/.test(row)).length
    const verdict =
      problems === 0 ? 'No problem was found.' : new RegExp(`^${problems} problems? (was|were) found`)
    await page.getByText(verdict).waitFor()
    const asked = page.waitForResponse(/\/api\/v1\/admin\/doctor$/)
    await button(page, 'Look again').click()
    expect((await asked).status()).toBe(200)
    await settled(page)
    expect(opened.trouble()).toEqual([])
  })

  test('keeps all that was done in the audit log, by kind and page by page', async () => {
    const stranger = { kind: 'stranger', address: '203.0.113.9' } as const
    await recordLockOut(host.database, host.clock, stranger, {
      secret: 'password of folder 12',
      username: null,
      outcome: 'locked out',
    })
    await using opened = await openAs(root)
    const { page } = opened
    await page.goto('/admin/audit')
    const shown = async () => {
      await settled(page)
      const rows = page.locator('.plain-rows li')
      await rows.first().waitFor()
      return rows.allTextContents()
    }
    const all = await shown()
    for (let next = 2; await page.getByRole('link', { name: 'Next' }).isVisible(); next++) {
      await page.getByRole('link', { name: 'Next' }).click()
      await page.waitForURL(new RegExp(`page=${next}`))
      all.push(...(await shown()))
    }
    for (const deed of [
      /^Quota changedquincyquota: 1610612736 · before: –.* · root · 127\.0\.0\.1$/,
      /^Account disabledquincy/,
      /^Account enabledquincy/,
      /^Account resetquincy/,
      /^Account deletedquincy/,
      /^Invitation created/,
      /^Report dismissed/,
      /^Content taken down/,
      /^Content allowed/,
      /^Notice set.*Maintenance <b>tonight<\/b>/,
      /^Notice removed/,
      /^Job tried againpurge deleted files/,
      /^Signed inroot.*by: password.* · root · 127\.0\.0\.1$/,
      /^Locked after too many triespassword of folder 12.* · not signed in · 203\.0\.113\.9$/,
    ]) {
      expect(all).toContainEqual(expect.stringMatching(deed))
    }
    await page.getByLabel('Action').selectOption({ label: 'Notice removed' })
    await button(page, 'Apply').click()
    await page.waitForURL(`${host.url}/admin/audit?act=notice.cleared`)
    expect(await shown()).toHaveLength(1)
    expect(opened.trouble()).toEqual([])
  })
})
