import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { Language } from '../../../src/domain/account.ts'
import { COMMAND_LINE } from '../../../src/domain/audit.ts'
import { ERROR_CODES, STORAGE_REASONS } from '../../../src/domain/errors.ts'
import { openBuiltSite } from '../../../src/pages/built-site.ts'
import {
  elements,
  type Headers,
  makeFolder,
  signedAddress,
  upload,
  visit,
  withHoldfast,
} from '../../support/clients/public.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'
import { administrator } from '../../support/sign-in/administrator.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

const { host, key } = await ownedHost()
const { pages } = await openBuiltSite()

interface Shown {
  readonly status: number
  readonly title: string
  /** Where the button leads. */
  readonly way: string
}

async function shown(response: Response): Promise<Shown> {
  const html = await response.text()
  return {
    status: response.status,
    title: elements(html, 'h1')[0]?.text ?? '',
    way: elements(html, 'main a')[0]?.attributes.href ?? '',
  }
}

function open(address: string, headers: Headers = {}): Promise<Response> {
  return visit(host, address, { headers: { ...BROWSER, ...headers } })
}

function form(): RequestInit {
  const body = new FormData()
  body.set('file', new File(['x'], 'a.txt'))
  return { method: 'POST', body, headers: BROWSER }
}

describe('a browser is shown a page with a way on', () => {
  test('where there is nothing', async () => {
    expect(await shown(await open('/nowhere'))).toEqual({
      status: 404,
      title: 'This page is not here',
      way: '/',
    })
    expect(await shown(await open('/d/nothinghere12'))).toMatchObject({ title: 'This file is not here' })
    expect(await shown(await open('/f/nothinghere12345'))).toMatchObject({ title: 'This folder is not here' })
  })

  test('at a link that no longer works', async () => {
    const file = await upload(host)
    const address = (await signedAddress(host, file)).replace('token=', 'token=x')
    expect(await shown(await open(address))).toEqual({
      status: 403,
      title: 'This link no longer works',
      way: '/',
    })
  })

  test('where guests may not upload, to signing in', () =>
    withHoldfast({ guestUploads: false }, async (closed) => {
      expect(await shown(await visit(closed, '/', form()))).toEqual({
        status: 403,
        title: 'Guests cannot upload here',
        way: '/sign-in?next=%2F',
      })
    }))

  test('past the end of a file, to the whole of it', async () => {
    const address = await signedAddress(host, await upload(host))
    const response = await open(address, { range: 'bytes=1000000-' })
    expect(response.headers.get('content-range')).toBe('bytes */100')
    const { pathname, search } = new URL(address)
    expect(await shown(response)).toEqual({
      status: 416,
      title: 'This part of the file does not exist',
      way: pathname + search,
    })
  })

  test('where there were too many requests, with the time to wait', () =>
    withHoldfast({ guestRateLimit: 2 }, async (own) => {
      // Of the transfer and of its file.
      expect((await visit(own, '/', form())).status).toBe(303)
      const response = await visit(own, '/', form())
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      const html = await response.clone().text()
      expect(elements(html, 'main p')[0]?.text).toContain('Try again in 60 minutes.')
      expect(await shown(response)).toEqual({ status: 429, title: 'Too many requests', way: '/' })
    }))

  test('where the server fails, without a word of why', () =>
    withHoldfast({}, async (own) => {
      const { slug } = await upload(own)
      await sql`alter table files rename to mistaken`.execute(own.database)
      const response = await visit(own, `/d/${slug}`, { headers: BROWSER })
      expect(await response.clone().text()).not.toContain('mistaken')
      expect(await shown(response)).toEqual({
        status: 500,
        title: 'Something went wrong here',
        way: `/d/${slug}`,
      })
    }))

  test('where there is no room', () =>
    withHoldfast({ guestStorage: 0 }, async (own) => {
      expect(await shown(await visit(own, '/', form()))).toEqual({
        status: 503,
        title: 'No space left for guests',
        way: '/',
      })
    }))
})

test('programs are told in JSON', async () => {
  const response = await visit(host, '/d/nothinghere12', { headers: { accept: '*/*' } })
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({ success: false, error: 'FILE_NOT_FOUND' })
})

describe.each(['en', 'de'] as const)('in %s', (language: Language) => {
  const reader = { language, locale: language }

  test('each cause of unavailable storage has a title of its own', () => {
    const titles = STORAGE_REASONS.map((reason) => {
      const view = { status: 503, code: 'STORAGE_UNAVAILABLE', reason, retryAfter: 30, path: '/' } as const
      return elements(pages.errorPage(view, reader), 'h1')[0]?.text
    })
    const [full, guests, away, refused] = titles
    expect(new Set([full, guests, away]).size).toBe(3)
    expect(refused).toBe(away)
  })

  test.each(ERROR_CODES)('%s says what happened and what to do', (code) => {
    for (const retryAfter of [null, 1, 30, 3600]) {
      const html = pages.errorPage({ status: 500, code, reason: null, retryAfter, path: '/d/a' }, reader)
      const lines = [...elements(html, 'main p, h1'), ...elements(html, 'main a')].map(({ text }) => text)
      expect(lines).toHaveLength(4)
      for (const line of lines) expect(line).toMatch(/^[^{}]+$/)
    }
  })
})

describe('every page', () => {
  const root = administrator(host)
  const invitation = host.links.invitation(COMMAND_LINE)
  const password = host.links.password('owner')
  const slug = async () => (await upload(host)).slug

  test.each<readonly [string, () => string | Promise<string>]>([
    ['the start page', () => '/'],
    ['a file', async () => `/d/${await slug()}`],
    ['a report', async () => `/d/${await slug()}/report`],
    ['a folder', async () => `/f/${await makeFolder(host, key)}`],
    ['a locked folder', async () => `/f/${await makeFolder(host, key, { password: 'sesame' })}`],
    ['the reference', () => '/docs'],
    ['a guide', () => '/docs/api'],
    ['signing in', () => '/sign-in'],
    ['the code', () => '/sign-in/code'],
    ['a forgotten password', () => '/sign-in/forgotten'],
    ['signing up', async () => (await invitation).path],
    ['setting a password', async () => (await password).path],
    ['what is not there', () => '/nowhere'],
    ['the files', () => '/files'],
    ['the settings', () => '/settings'],
    ['administration', () => '/admin'],
  ])('lets only our own scripts run, and loads from here and the content alone: %s', async (_, address) => {
    const path = await address()
    // At the page where somebody has signed in they are sent on.
    const isSignedOut = path.startsWith('/sign-in')
    const { status, headers } = isSignedOut ? await open(path) : await (await root).get(path, BROWSER)
    expect(status).toBe(path === '/nowhere' ? 404 : 200)
    const policy = headers.get('content-security-policy') ?? ''
    const directives = new Map(
      policy.split('; ').map((text) => {
        const [name = '', ...sources] = text.split(' ')
        return [name, sources]
      }),
    )
    expect(directives.get('default-src')).toEqual(["'none'"])
    expect(directives.get('script-src')).toEqual(["'self'"])
    expect(directives.get('style-src')).toEqual(["'self'"])
    expect(directives.get('frame-ancestors')).toEqual(["'none'"])
    expect(directives.get('base-uri')).toEqual(["'none'"])
    for (const [name, sources] of directives) {
      if (name !== 'style-src-attr') expect(sources.join(' ')).not.toContain('unsafe')
      expect(sources).not.toContain('*')
    }
  })
})
