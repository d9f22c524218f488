/** States of the pages that are looked at, and are in no document. */
import type { Page } from 'playwright-core'
import { PASSWORD } from '../support/clients/site-visitor.ts'
import { managerStates } from './manager-states.ts'
import { said, saidAlone } from './said.ts'
import { LONG, type StatesDemo } from './states-demo.ts'
import { uploadStates } from './upload-states.ts'
import { open, openSignedIn, type State, signIn } from './visiting.ts'

export const states: readonly State[] = [
  ...uploadStates(),
  ...filePages(),
  ...folderPages(),
  ...linkPages(),
  ...managerStates(),
  ...account(),
  ...settings(),
  ...administration(),
  ...others(),
]

function filePages(): State[] {
  const kinds = ['audio', 'pdf', 'code', 'markdown', 'table', 'archive', 'other', 'short', 'empty', 'damaged']
  const state = (name: string, whose: 'owner' | 'stranger', what = name): State => ({
    name: `file-${name}`,
    async show(page, demo) {
      if (whose === 'owner') await signIn(page, demo)
      await open(page, `/d/${demo.files.get(what)}`)
    },
  })
  return [
    ...kinds.map((kind) => state(kind, 'stranger')),
    state('private', 'owner'),
    state('locked', 'owner'),
    state('private-elsewhere', 'stranger', 'private'),
    state('locked-elsewhere', 'stranger', 'locked'),
    state('arriving', 'stranger'),
    {
      name: 'file-details',
      async show(page, demo) {
        await openSignedIn(page, `/d/${demo.files.get('other')}`, demo)
        for (const summary of await page.locator('summary').all()) await summary.click()
      },
    },
  ]
}

function folderPages(): State[] {
  const state = (name: string, what: string, query = '', isOwner = false): State => ({
    name: `folder-${name}`,
    async show(page, demo) {
      if (isOwner) await signIn(page, demo)
      await open(page, `/f/${demo.folders.get(what)}${query}`)
    },
  })
  return [
    state('kinds', 'kinds', '?sort=name'),
    state('kinds-gallery', 'kinds', '?view=gallery'),
    state('empty', 'nothing'),
    state('paged', 'many'),
    state('private', 'hidden', '', true),
    {
      name: 'folder-wrong-password',
      async show(page, demo) {
        await open(page, `/f/${demo.folders.get('locked')}`)
        await page.getByLabel(said('Password')).fill('sand')
        await page.getByRole('button', { name: said('Unlock') }).click()
        await page.getByRole('alert').waitFor()
      },
    },
  ]
}

function linkPages(): State[] {
  return ['file', 'folder', 'bundle', 'locked', 'ended', 'limited', 'used-up'].map((what) => ({
    name: `link-${what}`,
    show: (page, demo) => open(page, demo.links.get(`link-${what}`) ?? ''),
  }))
}

function account(): State[] {
  const page = (name: string, path: string): State => ({ name, show: (it) => open(it, path) })
  return [
    {
      name: 'sign-in-wrong',
      async show(it) {
        await open(it, '/sign-in')
        await it.getByLabel(said('User name')).fill('ana')
        await it.getByLabel(said('Password')).fill('wrong')
        await it
          .getByRole('main')
          .getByRole('button', { name: saidAlone('Sign in') })
          .click()
        await it.getByRole('alert').waitFor()
      },
    },
    {
      name: 'sign-in-code',
      async show(it, { careful }) {
        await open(it, '/sign-in')
        await it.getByLabel(said('User name')).fill(careful)
        await it.getByLabel(said('Password')).fill(PASSWORD)
        await it
          .getByRole('main')
          .getByRole('button', { name: saidAlone('Sign in') })
          .click()
        await it.getByLabel(said('Code')).fill('000000')
        await it
          .getByRole('main')
          .getByRole('button', { name: saidAlone('Sign in') })
          .click()
        await it.getByRole('alert').waitFor()
      },
    },
    page('sign-in-code-alone', '/sign-in/code'),
    {
      name: 'sign-up',
      async show(it) {
        await open(it, '/sign-up')
        await it.getByLabel(said('User name')).fill('ana')
        await it.getByLabel(said('Password')).fill('kettle 12')
        await Bun.sleep(600)
      },
    },
    { name: 'invitation', show: (it, { links }) => open(it, links.get('invitation') ?? '') },
    { name: 'set-password', show: (it, { links }) => open(it, links.get('password') ?? '') },
    page('forgotten', '/sign-in/forgotten'),
    page('proved', '/sign-in/proved'),
    page('used-link', '/set-password/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'),
  ]
}

function settings(): State[] {
  const at = (name: string, path: string, act: (page: Page) => Promise<void> = async () => {}): State => ({
    name: `settings-${name}`,
    async show(page, demo) {
      await openSignedIn(page, `/settings${path}`, demo)
      await act(page)
    },
  })
  const button = (page: Page, name: string) => page.getByRole('button', { name: saidAlone(name) })
  return [
    {
      name: 'settings-newcomer',
      show: (page, { newcomer }) => openSignedIn(page, '/settings', { cookies: newcomer }),
    },
    {
      name: 'settings-newcomer-keys',
      show: (page, { newcomer }) => openSignedIn(page, '/settings/keys', { cookies: newcomer }),
    },
    at('keys-list', '/keys'),
    at('key-made', '/keys', async (page) => {
      await button(page, 'New key').click()
      await page.getByRole('textbox', { name: said('Name') }).fill(LONG.slice(0, 60))
      await button(page, 'Create key').click()
      const password = page.getByRole('dialog').getByLabel(said('Your password'))
      await password.or(page.locator('.code-box').first()).waitFor()
      if (await password.isVisible()) {
        await password.fill(PASSWORD)
        await button(page, 'Confirm').click()
      }
      await page.locator('.code-box').first().waitFor()
    }),
    at('key-revoked', '/keys', async (page) => {
      await page
        .getByRole('button', { name: said(/^Revoke/) })
        .first()
        .click()
      await page.getByRole('dialog').waitFor()
    }),
    at('webhooks-none', '/webhooks'),
    at('webhook-new', '/webhooks', (page) => button(page, 'Add webhook').click()),
    at('webhook-failing', '/webhooks', addFailingWebhook),
    at('webhook-change', '/webhooks', async (page) => {
      await addFailingWebhook(page)
      await page.getByRole('button', { name: said(/^Change/) }).click()
    }),
    at('security', '/security'),
    at('codes', '/security', async (page) => {
      await button(page, 'Set up codes').click()
      await page.getByRole('dialog').waitFor()
      const password = page.getByRole('dialog').getByLabel(said('Your current password'))
      if (await password.isVisible()) await password.fill(PASSWORD)
      await button(page, 'Continue').click()
      await page.getByRole('img', { name: said('QR code for the app') }).waitFor()
    }),
    at('passkey', '/security', async (page) => {
      await button(page, 'Add a passkey').click()
      await page.getByRole('dialog').waitFor()
    }),
    at('account', '/account'),
    at('delete-account', '/account', async (page) => {
      await button(page, 'Delete the account …').click()
      await page.getByRole('dialog').waitFor()
    }),
  ]
}

/** Nobody answers at its address, so its test is tried again and again. */
async function addFailingWebhook(page: Page): Promise<void> {
  const row = page.getByRole('listitem').filter({ hasText: 'hooks.example' })
  if ((await row.count()) === 0) {
    await page.getByRole('button', { name: said('Add webhook') }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(said('Address')).fill('https://hooks.example/holdfast')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: said('Done') }).click()
  }
  await row.getByRole('button', { name: said(/^Send a test/) }).click()
  await row.getByText(said('On its way')).first().waitFor()
}

function administration(): State[] {
  const at = (
    name: string,
    path: string | ((demo: StatesDemo) => string),
    act: (page: Page) => Promise<void> = async () => {},
  ): State => ({
    name: `admin-${name}`,
    async show(page, demo) {
      const address = typeof path === 'string' ? path : path(demo)
      await openSignedIn(page, `/admin${address}`, { cookies: demo.administrator })
      await act(page)
    },
  })
  return [
    at('accounts', '/accounts'),
    at('account', ({ accountId }) => `/accounts?account=${accountId}`),
    at('invite', '/accounts', async (page) => {
      await page.getByRole('button', { name: said('Invite somebody') }).click()
      await page.getByRole('dialog').waitFor()
    }),
    at('take-down', '/reports', async (page) => {
      await page
        .getByRole('button', { name: said(/^Take down/) })
        .first()
        .click()
      await page.getByRole('dialog').waitFor()
    }),
    at('files', '/files'),
    at('integrity', '/integrity'),
    at('repaired', '/integrity?state=repaired'),
    at('jobs', '/jobs'),
    at('notice', '/notice'),
    at('settings', '/settings'),
    at('doctor', '/doctor', async (page) => {
      await page.locator('.plain-rows').first().waitFor()
    }),
    at('audit', '/audit'),
  ]
}

function others(): State[] {
  const page = (name: string, path: string): State => ({ name, show: (it) => open(it, path) })
  return [
    { name: 'report', show: (it, { files }) => open(it, `/d/${files.get('other')}/report`) },
    {
      name: 'report-sent',
      async show(it, { files }) {
        await open(it, `/d/${files.get('pdf')}/report`)
        await it.getByRole('radio').nth(3).check()
        await it.getByRole('button', { name: said('Send report') }).click()
        await it.getByText(said('Thank you')).waitFor()
      },
    },
    {
      name: 'report-missing',
      async show(it, { files }) {
        await open(it, `/d/${files.get('other')}/report`)
        await it.getByRole('button', { name: said('Send report') }).click()
        await it.waitForLoadState('networkidle')
      },
    },
    page('docs', '/docs'),
    page('docs-guide', '/docs/api'),
    page('error-page', '/nowhere/at-all'),
    page('error-folder', '/f/aaaaaaaaaaaaaaaa'),
  ]
}
