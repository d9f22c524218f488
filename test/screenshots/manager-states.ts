/** The file manager: its menus, dialogs and messages, and what is selected. */
import type { Page } from 'playwright-core'
import { chosenFile } from '../support/browser/start-page.ts'
import { said, saidAlone } from './said.ts'
import { ARABIC, LONG, type StatesDemo } from './states-demo.ts'
import { openBin, type State, signIn } from './visiting.ts'

export function managerStates(): State[] {
  const at = (name: string, act: (page: Page, demo: StatesDemo) => Promise<void>, what = 'kinds'): State => ({
    name: `manager-${name}`,
    async show(page, demo) {
      await signIn(page, demo)
      await page.goto(what === 'top' ? '/files' : `/files/${demo.folders.get(what)}`)
      await page.locator('[data-row], .empty-list').first().waitFor()
      await page.waitForLoadState('networkidle')
      await act(page, demo)
      await page.waitForLoadState('networkidle')
    },
  })
  const row = (page: Page, name: string) =>
    page
      .locator('[data-row]')
      .filter({ has: page.locator('.name').and(page.getByTitle(name, { exact: true })) })
  const button = (page: Page, name: string | RegExp) =>
    page.getByRole('button', { name: typeof name === 'string' ? saidAlone(name) : said(name) })
  const menuOf = async (page: Page, name: string) => {
    await row(page, name).getByRole('button').click()
    await page.getByRole('menu').waitFor()
  }
  const details = (page: Page, name: string) => inMenu(page, name, 'Details')
  const inMenu = async (page: Page, name: string, item: string | RegExp) => {
    await menuOf(page, name)
    await page.getByRole('menuitem', { name: said(item) }).click()
  }
  return [
    at('top', async () => {}, 'top'),
    at('empty', async () => {}, 'nothing'),
    at('menu', (page) => menuOf(page, LONG)),
    at('menu-of-folder', (page) => menuOf(page, 'Only for me'), 'top'),
    at('selected', async (page) => {
      await row(page, ARABIC).click({ modifiers: ['Control'] })
      await row(page, LONG).click({ modifiers: ['Control'] })
      await row(page, 'samples.zip').hover()
    }),
    at('selected-hovered', async (page) => {
      await row(page, ARABIC).click({ modifiers: ['Control'] })
      await row(page, ARABIC).hover()
    }),
    at('tiles', async (page) => {
      await button(page, 'View: Tiles').click()
      await row(page, ARABIC).click({ modifiers: ['Control'] })
    }),
    at('details', async (page) => {
      await details(page, LONG)
      await page.getByText(said('Technical details')).click()
    }),
    at(
      'details-private',
      async (page) => {
        await details(page, 'Diary.txt')
        await page.getByText(said('Technical details')).waitFor()
      },
      'hidden',
    ),
    at('rename', async (page) => {
      await inMenu(page, LONG, 'Rename')
      await page.getByRole('dialog').waitFor()
    }),
    at('move', async (page) => {
      await inMenu(page, LONG, /Move to/)
      await page.getByRole('dialog').waitFor()
    }),
    at('links', async (page) => {
      if ((page.viewportSize()?.width ?? 0) < 900) await button(page, 'Show folders').click()
      await button(page, 'Shared links').click()
      await page
        .getByRole('dialog', { name: said('Shared links') })
        .getByRole('listitem')
        .first()
        .waitFor()
      await page.getByRole('button', { name: said('Turn off: For the printer') }).click()
    }),
    at('share', async (page) => {
      await inMenu(page, LONG, /Share/)
      await page.getByRole('dialog').waitFor()
    }),
    at('share-made', async (page) => {
      await inMenu(page, LONG, /Share/)
      await page.getByRole('checkbox', { name: said(/One download/) }).check()
      await page.getByRole('checkbox', { name: said(/password/) }).check()
      await button(page, 'Create link').click()
      await page.getByText(said('shown here only now')).waitFor()
    }),
    at(
      'who-may-see',
      async (page) => {
        await inMenu(page, 'With a password', 'Who can see it')
        await page.getByRole('dialog').waitFor()
      },
      'top',
    ),
    at('new-folder', async (page) => {
      await button(page, 'New folder').click()
      await page.getByRole('textbox', { name: said('Name') }).fill('a/b')
      await page.keyboard.press('Enter')
    }),
    at('found', async (page) => {
      await page.getByRole('searchbox').fill('re')
      await Bun.sleep(500)
    }),
    at('nothing-found', async (page) => {
      await page.getByRole('searchbox').fill('nowhere')
      await page.getByText(said('Nothing found')).waitFor()
    }),
    at('uploads', async (page) => {
      await page.locator('.uploads-button').click()
      await page.getByRole('dialog').waitFor()
    }),
    at(
      'uploads-private',
      async (page) => {
        const files = [LONG, ARABIC].map((name) => chosenFile(name, Buffer.from(name)))
        await page.locator('.upload-field').setInputFiles(files)
        await page.locator('.uploads-button').click()
        await page.locator('.upload[data-state="done"]').nth(1).waitFor()
      },
      'hidden',
    ),
    at('upload-refused', async (page) => {
      const json = { success: false, message: '', error: 'STORAGE_LIMIT_EXCEEDED' }
      await page.route('**/api/v1/uploads', (route) => route.fulfill({ status: 413, json }))
      await page.locator('.upload-field').setInputFiles(chosenFile(LONG, Buffer.from('a')))
      await page.locator('.uploads-button[data-failed]').waitFor()
    }),
    at('upload-waiting', async (page) => {
      await page.route('**/api/v1/uploads', (route) => route.abort('connectionrefused'))
      await page.locator('.upload-field').setInputFiles(chosenFile(ARABIC, Buffer.from('a')))
      await page.getByText(said('The server cannot be reached.')).first().waitFor()
    }),
    at(
      'bin-asked',
      async (page) => {
        await openBin(page)
        await button(page, 'Delete for good: Old boat.mp4').click()
      },
      'top',
    ),
    at(
      'bin-emptied',
      async (page) => {
        await openBin(page)
        await button(page, 'Empty bin').click()
      },
      'top',
    ),
    at('notice', async (page) => {
      await row(page, 'a').click()
      await page.keyboard.press('Delete')
      await page.locator('.notice').first().waitFor()
      await button(page, 'Undo').click()
      await page.getByText(said('1 item restored')).waitFor()
    }),
    at('account-menu', async (page) => {
      await page.locator('#account-button').click()
    }),
    at('no-network', async (page) => {
      await page.route('**/api/v1/**', (route) => route.abort('connectionrefused'))
      await page.getByRole('searchbox').fill('x')
      await page.getByRole('heading', { name: said('The server cannot be reached') }).waitFor()
    }),
    at('signed-out', async (page) => {
      await page.context().clearCookies()
      await page.getByRole('searchbox').fill('x')
      await page.getByRole('heading', { name: said('You have been signed out') }).waitFor()
    }),
    at('folders', async (page) => {
      const folders = button(page, 'Show folders')
      if (await folders.isVisible()) await folders.click()
    }),
  ]
}
