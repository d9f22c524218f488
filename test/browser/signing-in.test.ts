/** People sign in on the pages, by password, code and passkey. */
// Only in test:all: test/cluster/accounts/sign-in has the same by its interface.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { DAY, HOUR } from '../../src/domain/clock.ts'
import {
  addAuthenticator,
  describeInBrowser,
  faultsInBothColours,
  openPage,
  PHONE,
  pixelsBeside,
  smallTargets,
} from '../support/browser/browser.ts'
import { upload } from '../support/clients/public.ts'
import { PASSWORD, signedIn } from '../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { codesAt } from '../support/sign-in/codes.ts'
import { NO_MAIL_SERVER } from '../support/sign-in/mail-server.ts'

const letter = z.object({
  path: z.string().optional(),
  keepPath: z.string().optional(),
  unsubscribePath: z.string().optional(),
})

const codes = z.object({ secret: z.string(), recovery_codes: z.array(z.string()) })
type Codes = z.infer<typeof codes>

/** Runs in the page: sends its form twice; returns which of them the page has stopped. */
const sendTwice = `(() => {
  const stopped = []
  addEventListener('submit', ({ defaultPrevented }) => stopped.push(defaultPrevented))
  document.querySelector('[name=code]').form.requestSubmit()
  document.querySelector('[name=code]').form.requestSubmit()
  return stopped
})()`

describeInBrowser('signing in', (browser) => {
  let host: TestHoldfast
  const codeOf = codesAt(() => host.clock.now())
  let welcome = ''

  beforeAll(async () => {
    host = await startHoldfast({ signUp: 'open', mail: NO_MAIL_SERVER })
    welcome = (await host.links.welcome())?.path ?? ''
  }, 120_000)
  afterAll(() => host.stop())

  /** The letter that was written last. */
  async function written(): Promise<z.infer<typeof letter>> {
    const mails = host.database.selectFrom('mails').select('letter').orderBy('id', 'desc')
    return letter.parse(JSON.parse((await mails.executeTakeFirstOrThrow()).letter))
  }

  const fetched = (path: string, body: object) =>
    `fetch(${JSON.stringify(path)}, { method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify(${JSON.stringify(body)}) }).then((response) => response.json())`

  test.each([
    ['on a desktop', {}],
    ['on a phone', PHONE],
  ] as const)('the pages have no fault in light and in dark, and speak German, %s', async (_, screen) => {
    await using opened = await openPage(browser(), host.url, {
      ...screen,
      reducedMotion: 'reduce',
      locale: 'de-DE',
    })
    const { page } = opened
    const link = (await host.links.password((await host.addAccount()).username)).path
    const invitation = (await host.links.invitation(COMMAND_LINE)).path
    for (const path of ['/sign-in', '/sign-in/code', '/sign-up', invitation, welcome, link]) {
      expect((await page.goto(path))?.status()).toBe(200)
      expect({ path, faults: await faultsInBothColours(page) }).toEqual({ path, faults: [] })
      expect(await page.locator('html').getAttribute('lang')).toBe('de')
      expect({ path, beside: await pixelsBeside(page) }).toEqual({ path, beside: 0 })
      expect({ path, small: await smallTargets(page) }).toEqual({ path, small: [] })
    }
    expect(opened.trouble()).toEqual([])
  })

  test.each([
    ['a code', 'without scripts', ({ secret }: Codes) => codeOf(secret, 1)],
    ['a recovery code', 'without scripts', ({ recovery_codes: [first = ''] }: Codes) => first],
    ['a code', 'with scripts', ({ secret }: Codes) => codeOf(secret, 1)],
    ['a recovery code', 'with scripts', ({ recovery_codes: [first = ''] }: Codes) => first],
  ] as const)('after the password comes %s, %s, and works once', async (_, scripts, codeFor) => {
    const { username } = await host.addAccount()
    const person = await signedIn(host, username)
    const made = (await person.send('POST', '/api/v1/account/codes', { password: PASSWORD })).data(codes)
    await person.send('POST', '/api/v1/account/codes/confirm', { code: codeOf(made.secret) })
    const code = codeFor(made)
    const javaScriptEnabled = scripts === 'with scripts'
    for (const isNew of [true, false]) {
      await using opened = await openPage(browser(), host.url, { javaScriptEnabled })
      const { page } = opened
      const send = () => page.getByRole('main').getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.goto('/settings')
      await page.getByLabel('User name').fill(username)
      await page.getByLabel('Password').fill(PASSWORD)
      await send()
      await page.waitForURL(`${host.url}/sign-in/code?next=%2Fsettings`)
      await page.getByLabel('Code').fill('000000')
      await send()
      await page.getByRole('alert').waitFor()
      expect(await page.locator('.who-menu').count()).toBe(0)
      await page.getByLabel('Code').fill(code)
      await page.waitForLoadState('load')
      // A second click would be told that the code was used.
      if (javaScriptEnabled) expect(await page.evaluate(sendTwice)).toEqual([false, true])
      else await send()
      if (isNew) {
        await page.waitForURL(`${host.url}/settings`)
        expect(await page.locator('.who').first().textContent()).toBe(username)
      } else {
        await page.getByRole('alert').waitFor()
        expect((await page.goto('/settings'))?.url()).toBe(`${host.url}/sign-in?next=%2Fsettings`)
      }
      expect(opened.trouble()).toEqual([])
    }
  })

  test('without scripts somebody becomes the administrator, signs out, in again, and is told what is wrong', async () => {
    await using opened = await openPage(browser(), host.url, { javaScriptEnabled: false })
    const { page } = opened
    // Tests before this one have let a month pass, after which such a link is over.
    const welcome = (await host.links.welcome())?.path ?? ''
    await page.goto(welcome)
    await page.getByLabel('User name').fill('root')
    await page.getByLabel('Password').fill('password')
    await page.getByRole('button', { name: 'Create account' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('easy to guess')
    expect(await page.getByLabel('User name').inputValue()).toBe('root')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.waitForURL(`${host.url}/files`)
    await page.getByText('root').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByLabel('User name').fill('root')
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    expect(await page.getByRole('alert').textContent()).toContain('wrong')
    expect(await page.title()).toBe('Error: Sign in · Holdfast')
    await page.locator('[aria-invalid=true][aria-describedby=password-error]:focus').waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL(`${host.url}/files`)
    expect(await page.locator('.who').first().textContent()).toBe('root')
    expect((await page.goto(welcome))?.status()).toBe(404)
  })

  test('a passkey that was added signs in without user name, password or code', async () => {
    await using opened = await openPage(browser(), host.url)
    const { page } = opened
    await addAuthenticator(page)
    // Passkeys are tied to the name of the site; for a browser an address of the machine is none.
    await page.goto('/sign-up')
    await page.getByLabel('User name').fill('ada')
    for (const [password, verdict] of [
      ['adaadaada', 'Too easy to guess'],
      [PASSWORD, 'Very good'],
    ] as const) {
      await page.getByLabel('Password').fill(password)
      await page.locator('.strength').getByText(verdict).waitFor()
    }
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.waitForURL(`${host.url}/files`)

    const done = z.object({ success: z.literal(true) })
    const made = z.object({ data: z.object({ secret: z.string() }) })
    const codes = made.parse(await page.evaluate(fetched('/api/v1/account/codes', { password: PASSWORD })))
    const code = codeOf(codes.data.secret)
    done.parse(await page.evaluate(fetched('/api/v1/account/codes/confirm', { code })))
    const added = await page.evaluate(`(async () => {
      const { data } = await ${fetched('/api/v1/passkeys/options', { password: PASSWORD })}
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(data)
      const credential = await navigator.credentials.create({ publicKey })
      const body = JSON.stringify({ name: 'This computer', answer: credential.toJSON() })
      const headers = { 'content-type': 'application/json' }
      return [data.user.displayName, await (await fetch('/api/v1/passkeys', { method: 'POST', headers, body })).json()]
    })()`)
    expect(added).toEqual(['ada', { success: true }])

    // What the file manager is still asking for would be answered with 401 once the session has ended.
    await page.goto('/')
    await page.getByText('ada').click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.goto('/sign-in?next=/sign-up')
    await page.getByRole('button', { name: 'passkey' }).click()
    await page.waitForURL(`${host.url}/sign-up`)
    expect(await page.locator('.who').first().textContent()).toBe('ada')
    expect(opened.trouble()).toEqual([])
  })

  test('the settings take an address, say what became of it, and forget it', async () => {
    const { username } = await host.addAccount('reader')
    await using opened = await openPage(browser(), host.url, { reducedMotion: 'reduce' })
    const { page } = opened
    const { cookies } = await signedIn(host, username)
    await page.context().addCookies([...cookies].map(([name, value]) => ({ name, value, url: host.url })))
    await page.goto('/settings/account')
    const part = page.getByRole('region', { name: 'Email address' })
    await part.getByLabel('New address').fill('reader@example.org')
    await part.getByLabel('Your current password').fill(PASSWORD)
    await part.getByRole('button', { name: 'Send confirmation link' }).click()
    await part.getByText('Until then, the address is not used').waitFor()
    await page.goto((await written()).path ?? '')
    await page.getByRole('button', { name: 'Confirm the address' }).click()
    await page.getByRole('heading', { name: 'Address confirmed' }).waitFor()

    await page.goto('/settings/account')
    await part.getByText('Email goes to reader@example.org.').waitFor()
    expect(await faultsInBothColours(page)).toEqual([])
    const warnings = part.getByRole('checkbox')
    expect(await warnings.isChecked()).toBe(true)
    await warnings.press('Space')
    await part.locator('[type=checkbox]:not(:checked):not(:disabled)').waitFor({ state: 'attached' })
    await page.reload()
    await part.getByText('Email goes to').waitFor()
    expect(await warnings.isChecked()).toBe(false)
    await part.getByRole('button', { name: 'Remove the address' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Your current password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Remove the address' }).click()
    await part.getByText('No address yet').waitFor()
    expect(opened.trouble()).toEqual([])
  })

  test('the pages that mails lead to have no fault, in either language', async () => {
    const { username, apiKey } = await host.addAccount('keeper')
    await upload(host, { key: apiKey })
    const person = await signedIn(host, username)
    const send = (address: string) =>
      person.send('POST', '/api/v1/account/mail', { address, password: PASSWORD })
    await send('keeper@example.org')
    const verify = (await written()).path ?? ''
    await person.submit(verify, {})
    host.clock.advance(38 * DAY + HOUR)
    await host.runJobs()
    const { keepPath = '', unsubscribePath = '' } = await written()
    await (await signedIn(host, username)).send('POST', '/api/v1/account/mail', {
      address: 'other@example.org',
      password: PASSWORD,
    })
    const paths = ['/sign-in/forgotten', (await written()).path ?? '', keepPath, unsubscribePath]
    for (const locale of ['en-GB', 'de-DE']) {
      await using opened = await openPage(browser(), host.url, { reducedMotion: 'reduce', locale })
      const { page } = opened
      const look = async (path: string) => {
        expect({ path, faults: await faultsInBothColours(page) }).toEqual({ path, faults: [] })
        expect(await page.locator('html').getAttribute('lang')).toBe(locale.slice(0, 2))
      }
      for (const path of paths) {
        expect((await page.goto(path))?.status()).toBe(200)
        await look(path)
      }
      await page.goto('/sign-in')
      await page.locator('a[href="/sign-in/forgotten"]').click()
      await page.locator('input[name="name"]').fill('nobody')
      await page.getByRole('main').getByRole('button').click()
      await page.waitForSelector('h1 ~ a[href="/sign-in"]')
      // Before its stylesheet is there nobody sees the page.
      await page.waitForLoadState('load')
      await look('asked')
      expect(opened.trouble()).toEqual([])
    }
  })
})
