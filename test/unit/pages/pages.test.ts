import { describe, expect, test } from 'bun:test'
import { openBuiltSite } from '../../../src/pages/built-site.ts'
import { DEFAULT_QUERY } from '../../../src/pages/folder-query.ts'
import type {
  FilePageView,
  FolderPageView,
  PasswordPageView,
  StartPageView,
} from '../../../src/pages/views.ts'
import type { PageReader } from '../../../src/server/requests/browser.ts'
import { iconFor } from '../../../src/thumbnails/icons.ts'
import { splitName } from '../../../web/shared/file-name.tsx'

const { pages } = await openBuiltSite()

const READER: PageReader = { language: 'en', locale: 'en-GB' }

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='a()'>&amp; data-opens="evil" .mp4`

const FILE: FilePageView = {
  name: 'film & more.mkv',
  uuid: '3f2b8c1e-7a54-4c0d-9b1e-2f6d8a7c5e10',
  size: 1536,
  type: 'video/x-matroska',
  uploadedAt: '2026-03-12T09:15:00.123Z',
  expiresAt: '2026-04-26T09:15:00.123Z',
  sha256: 'ab'.repeat(32),
  verifiedAt: '2026-03-14T04:05:06.000Z',
  views: 1204,
  downloads: 87,
  url: 'https://files.example/d/Abcdefghijkl',
  thumbnailUrl: 'https://files.example/t/3f2b8c1e-7a54-4c0d-9b1e-2f6d8a7c5e10',
  cardUrl: 'https://files.example/d/Abcdefghijkl/card.jpg',
  oembedUrl: 'https://files.example/oembed?url=https%3A%2F%2Ffiles.example%2Fd%2FAbcdefghijkl',
  downloadUrl: '/d/Abcdefghijkl?download=1',
  pictureUrl: null,
  preview: null,
  folder: null,
  reportUrl: '/d/Abcdefghijkl/report',
  barrier: null,
  damage: null,
  notice: null,
  downloadForm: null,
}

const ITEM: FolderPageView['files'][number] = {
  name: 'one.txt',
  path: '/d/Abcdefghijkl',
  size: 1234,
  type: 'text/plain',
  createdAt: '2026-03-12T09:15:00.123Z',
  downloads: 3,
  thumbnailUrl: '/t/3f2b8c1e-7a54-4c0d-9b1e-2f6d8a7c5e10',
  isIcon: false,
  pixels: { width: 4032, height: 3024 },
  renditions: [],
}

const FOLDER: FolderPageView = {
  name: 'Summer',
  url: 'https://files.example/f/abcdefghijklmnop',
  cardUrl: 'https://files.example/f/abcdefghijklmnop/card.jpg',
  above: [],
  folders: [],
  files: [ITEM],
  folderCount: 0,
  fileCount: 1,
  cover: null,
  facts: { createdAt: Date.UTC(2026, 10, 28), bytes: 1234 },
  totals: { files: 1, bytes: 1234 },
  query: DEFAULT_QUERY,
  look: 'list',
  pages: 1,
  firstFilePage: 1,
  filesBefore: 0,
  barrier: null,
  notice: null,
  downloadForm: null,
}

const PASSWORD: PasswordPageView = { action: '/f/x', nonce: 'n0nce', next: '/d/Abcdefghijkl', error: null }

const START: StartPageView = {
  publicUrl: 'https://files.example',
  guestUploads: true,
  isSignedIn: false,
  maxFileSize: 10 * 1024 ** 3,
  inactiveDays: 45,
}

interface Found {
  readonly attributes: Readonly<Record<string, string>>
  readonly text: string
}

/** What a client that reads HTML sees at a selector, entities resolved. */
function find(html: string, selector: string): Found[] {
  const found: { attributes: Record<string, string>; text: string }[] = []
  new HTMLRewriter()
    .on(selector, {
      element(element) {
        const attributes = [...element.attributes].map(([name, value]) => [name ?? '', plain(value ?? '')])
        found.push({ attributes: Object.fromEntries(attributes), text: '' })
      },
      text(chunk) {
        const last = found.at(-1)
        if (last) last.text += plain(chunk.text)
      },
    })
    .transform(html)
  return found
}

function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')
}

function meta(html: string, property: string): string | undefined {
  return find(html, `meta[property="${property}"]`)[0]?.attributes.content
}

const everyPage: readonly (readonly [string, string])[] = [
  [
    'file',
    pages.filePage({ ...FILE, name: HOSTILE, type: HOSTILE, folder: { name: HOSTILE, url: '/f/a' } }, READER),
  ],
  [
    'image',
    pages.filePage(
      {
        ...FILE,
        name: HOSTILE,
        preview: { kind: 'image', url: '/v2/a.png?token=a&b', opens: true, screen: null, rawUrl: null },
      },
      READER,
    ),
  ],
  [
    'video',
    pages.filePage(
      {
        ...FILE,
        name: HOSTILE,
        preview: { kind: 'video', url: '/v2/a.mp4', opens: true, screen: null, rawUrl: null },
      },
      READER,
    ),
  ],
  [
    'audio',
    pages.filePage(
      {
        ...FILE,
        name: HOSTILE,
        preview: { kind: 'audio', url: '/v2/a.mp3', opens: true, screen: null, rawUrl: null },
      },
      READER,
    ),
  ],
  [
    'folder',
    pages.folderPage(
      {
        ...FOLDER,
        name: HOSTILE,
        above: [1, 2, 3, 4].map((level) => ({ name: HOSTILE, url: `/f/${level}` })),
        folders: [{ name: HOSTILE, url: '/f/s', fileCount: 1 }],
        files: [{ ...ITEM, name: HOSTILE, type: HOSTILE }],
      },
      READER,
    ),
  ],
  [
    'password',
    pages.passwordPage(
      { action: '/f/x', nonce: HOSTILE, next: HOSTILE, error: { code: 'WRONG_PASSWORD', retryAfter: null } },
      READER,
    ),
  ],
  [
    'report',
    pages.reportPage(
      {
        file: { name: HOSTILE, path: '/d/Abcdefghijkl' },
        filled: { reason: 'spam', text: HOSTILE },
        problem: { kind: 'no reason' },
      },
      READER,
    ),
  ],
  [
    'mail',
    pages.mailPage(
      {
        kind: 'verify',
        action: '/verify-mail/x',
        username: HOSTILE,
        address: HOSTILE,
        files: 0,
        days: 45,
        retryAfter: null,
      },
      READER,
    ),
  ],
  ['reported', pages.reportedPage('/d/Abcdefghijkl', READER)],
  [
    'error',
    pages.errorPage(
      { status: 404, code: 'NOT_FOUND', reason: null, retryAfter: null, path: `/${HOSTILE}` },
      READER,
    ),
  ],
  ['files', pages.filesPage({ publicUrl: `https://files.example/${HOSTILE}`, maxFileSize: 1 }, READER)],
  ['start', pages.startPage({ ...START, publicUrl: `https://files.example/${HOSTILE}` }, READER)],
]

describe('every page', () => {
  test.each(everyPage)('is a whole document with the stylesheet: %s', (_, html) => {
    expect(html).toStartWith('<!doctype html><html lang="en">')
    expect(html).toEndWith('</html>')
    expect(find(html, 'link[rel="stylesheet"]')[0]?.attributes.href).toMatch(/^\/assets\/shared-\w+\.css$/)
    expect(find(html, 'meta[name="viewport"]')).toHaveLength(1)
    expect(find(html, 'h1')).toHaveLength(1)
    expect(find(html, 'main')).toHaveLength(1)
  })

  test.each(everyPage)('holds no inline script or style and no markup from values: %s', (_, html) => {
    expect(find(html, 'script:not([src]):not([type="application/json"]), style, [onerror]')).toEqual([])
    // Mantine's components carry their variables in attributes.
    for (const { attributes } of find(html, '[style]'))
      expect(attributes.style).toMatch(/^(--[\w-]+:[^;]+;?)+$/)
    expect(find(html, '[src="x"]')).toEqual([])
    const handlers = find(html, '[onclick]').map((element) => element.attributes.onclick)
    expect(handlers.filter((text) => text !== "window.location.href='/d/Abcdefghijkl'")).toEqual([])
    expect(find(html, '[data-opens]')).toEqual([])
  })

  test.each(everyPage)('has a script where it has a form, so that this is sent once: %s', (_, html) => {
    const isSending = find(html, 'form[method="post"]').length > 0
    if (isSending) expect(find(html, 'script[type="module"]')).not.toEqual([])
  })
})

describe('the file page', () => {
  test('describes the file to other sites', () => {
    const html = pages.filePage({ ...FILE, name: HOSTILE }, READER)
    expect(meta(html, 'og:title')).toBe(HOSTILE)
    expect(meta(html, 'og:image')).toBe(FILE.cardUrl)
    expect([meta(html, 'og:image:width'), meta(html, 'og:image:height')]).toEqual(['1200', '630'])
    expect(meta(html, 'og:url')).toBe(FILE.url)
    expect(meta(html, 'og:site_name')).toBe('Holdfast')
    expect(find(html, 'meta[name="twitter:card"]')[0]?.attributes.content).toBe('summary_large_image')
  })

  test('lists labels and values as neighbouring spans', () => {
    const html = pages.filePage(FILE, READER)
    const texts = find(html, '#detailsContent span').map((span) => span.text)
    const values = Object.fromEntries(texts.flatMap((text, at) => (at % 2 ? [] : [[text, texts[at + 1]]])))
    expect(Object.entries(values)).toEqual([
      ['UUID', FILE.uuid ?? ''],
      ['Type', FILE.type],
      ['Uploaded', FILE.uploadedAt],
      ['Size', '1.5 KB'],
      ['SHA-256', FILE.sha256],
      ['Bytes', '1536'],
      ['Views', '1204'],
      ['Downloads', '87'],
      ['Verified', '2026-03-14T04:05:06.000Z'],
    ])
    expect(html).toContain(`<span>UUID</span><span>${FILE.uuid}</span>`)
  })

  test('has one download button, which is a link', () => {
    const buttons = find(pages.filePage(FILE, READER), 'a.button')
    expect(buttons.map((button) => [button.attributes.href, button.text])).toEqual([
      [FILE.downloadUrl, 'Download'],
    ])
  })

  test('tells when the file goes away', () => {
    const times = find(pages.filePage(FILE, READER), 'time').map((time) => time.text)
    expect(times).toContain('26 April 2026')
  })

  test('shows an image, plays video and audio, and has an icon for the rest', () => {
    const url = '/v2/a?token=a&b'
    const image = pages.filePage(
      { ...FILE, preview: { kind: 'image', url, opens: true, screen: null, rawUrl: null } },
      READER,
    )
    expect(find(image, 'main img').map((element) => element.attributes.src)).toEqual([url])
    for (const kind of ['video', 'audio'] as const) {
      const player = find(
        pages.filePage({ ...FILE, preview: { kind, url, opens: true, screen: null, rawUrl: null } }, READER),
        kind,
      )[0]?.attributes
      expect(player?.src).toBe(url)
      expect(player?.preload).toBe('metadata')
      expect(player).toHaveProperty('controls')
    }
    expect(find(pages.filePage(FILE, READER), 'main img')[0]?.attributes.src).toBe(FILE.thumbnailUrl)
  })

  test.each([
    ['code', 250, 'stage-short'],
    ['code', 500, 'stage-middling'],
    ['code', 5000, 'stage-code'],
    ['markdown', 90, 'stage-short'],
    ['markdown', 250, 'stage-middling'],
    ['archive', 700, 'stage-short'],
    ['pdf', 100, 'stage-pdf'],
  ] as const)('has as much space for %s of %d bytes as its lines need', (kind, size, space) => {
    const preview = { kind, url: '/v2/a', opens: true, screen: null, rawUrl: null }
    const html = pages.filePage({ ...FILE, size, preview }, READER)
    expect(find(html, '#stage')[0]?.attributes.class).toEndWith(` ${space}`)
  })

  test('leads to the folder only when there is one to see', () => {
    const folder = { name: 'Summer', url: 'https://files.example/f/abcdefghijklmnop' }
    expect(find(pages.filePage({ ...FILE, folder }, READER), `a[href="${folder.url}"]`)).toHaveLength(1)
    expect(find(pages.filePage(FILE, READER), 'a').map((link) => link.attributes.href)).toEqual([
      '/',
      '/sign-in',
      FILE.downloadUrl,
      '/d/Abcdefghijkl/report',
    ])
  })
})

describe('the folder page', () => {
  test('carries what programs read, and a link for people', () => {
    const html = pages.folderPage({ ...FOLDER, files: [{ ...ITEM, name: HOSTILE }] }, READER)
    expect(html).toContain(`onclick="window.location.href='/d/Abcdefghijkl'"`)
    const attributes = find(html, '.file-item')[0]?.attributes
    expect(attributes?.['data-name']).toBe(HOSTILE)
    expect(attributes?.['data-size']).toBe('1234')
    expect(attributes?.['data-date']).toBe(ITEM.createdAt)
    const link = find(html, '.file-item a')[0]
    expect(link?.attributes.href).toBe('/d/Abcdefghijkl')
    expect(link?.text).toBe(HOSTILE)
  })

  test('links its subfolders', () => {
    const folders = [{ name: 'Harbour', url: 'https://files.example/f/bbbbbbbbbbbbbbbb', fileCount: 2 }]
    const links = find(pages.folderPage({ ...FOLDER, folders }, READER), 'a.subfolder-item')
    expect(links.map((link) => link.attributes.href)).toEqual(['https://files.example/f/bbbbbbbbbbbbbbbb'])
  })

  test.each([
    [1, 1, []],
    [1, 3, [['?page=2', '→']]],
    [
      2,
      3,
      [
        ['?', '←'],
        ['?page=3', '→'],
      ],
    ],
    [3, 3, [['?page=2', '←']]],
  ])('on page %d of %d links its neighbours', (page, last, expected) => {
    const query = { ...DEFAULT_QUERY, page }
    const links = find(pages.folderPage({ ...FOLDER, query, pages: last }, READER), 'a.page-link[rel]')
    expect(links.map((link) => [link.attributes.href ?? '', link.text])).toEqual(expected)
  })

  test.each([
    [0, []],
    [1, ['one']],
    [3, ['one', 'two', 'three']],
    [6, ['one', '…', 'five', 'six']],
  ])('shows the way up through %d folders', (levels, expected) => {
    const names = ['one', 'two', 'three', 'four', 'five', 'six'].slice(0, levels)
    const above = names.map((name) => ({ name, url: `/f/${name}` }))
    const html = pages.folderPage({ ...FOLDER, above }, READER)
    expect(find(html, '.above a').map((link) => link.text)).toEqual(expected)
    const shortened = find(html, '.above a[aria-label]').map(({ attributes }) => attributes.href)
    expect(shortened).toEqual(levels > 3 ? ['/f/four'] : [])
  })

  test('says what an empty folder is for', () => {
    const html = pages.folderPage(
      { ...FOLDER, files: [], fileCount: 0, totals: { files: 0, bytes: 0 } },
      READER,
    )
    expect(find(html, '.empty')).toHaveLength(1)
    expect(find(html, 'ul')).toEqual([])
  })
})

describe('the password page', () => {
  test('has the form that clients look for, and is not to be indexed', () => {
    const html = pages.passwordPage(PASSWORD, READER)
    const form = find(html, 'form#password-form')[0]?.attributes
    expect(form?.action).toBe('/f/x')
    expect(form?.method).toBe('post')
    const fields = find(html, '#password-form input').map((input) => input.attributes)
    expect(fields.map(({ name, type, value }) => [name, type, value])).toEqual([
      ['nonce', 'hidden', 'n0nce'],
      ['next', 'hidden', '/d/Abcdefghijkl'],
      ['password', 'password', undefined],
    ])
    expect(find(html, 'input#nonce')).toHaveLength(1)
    expect(find(html, 'label[for="password"]')).toHaveLength(1)
    expect(find(html, 'meta[name="robots"]')[0]?.attributes.content).toBe('noindex')
    expect(find(html, '[role="alert"], meta[property]')).toEqual([])
  })

  test('announces what went wrong', () => {
    const error = { code: 'WRONG_PASSWORD', retryAfter: null } as const
    const html = pages.passwordPage({ ...PASSWORD, error }, READER)
    expect(find(html, '[role="alert"]').map((alert) => alert.text)).toEqual([
      'Wrong password. Check capital and small letters, and try again.',
    ])
  })
})

test('the error page shows status, title and message, and a way on', () => {
  const html = pages.errorPage(
    { status: 404, code: 'FILE_NOT_FOUND', reason: null, retryAfter: null, path: '/d/Abcdefghijkl' },
    READER,
  )
  expect(find(html, 'main p').map((line) => line.text)).toEqual([
    'It may have been deleted, or removed because nobody opened it for a long time. Check the link, or ask the person who sent it.',
    'Error 404',
  ])
  expect(find(html, 'h1')[0]?.text).toBe('This file is not here')
  expect(find(html, 'main a')[0]?.attributes.href).toBe('/')
})

test('the page of an arriving file says for how long nothing has come', () => {
  const view = { name: 'film.mkv', received: 1024, size: 2048, downloadUrl: null }
  const said = (stalledFor: number | null) =>
    find(pages.arrivingPage({ ...view, stalledFor }, READER), '.arrived p').map((line) => line.text)
  expect(said(null)).toEqual(['This file is still being uploaded', '1 KB of 2 KB is here.'])
  expect(said(3)[0]).toBe('Nothing has come for 3 minutes: the sender has paused, or is offline')
})

describe('the start page', () => {
  test('takes a file', () => {
    const html = pages.startPage(START, READER)
    const form = find(html, 'form')[0]?.attributes
    expect(form).toMatchObject({ action: '/', method: 'post' })
    expect(form?.enctype).toBe('multipart/form-data')
    expect(find(html, '.zone input').map(({ attributes }) => [attributes.type, attributes.name])).toEqual([
      ['file', 'file'],
    ])
    expect(find(html, 'input[required]')).toHaveLength(1)
    expect(find(html, 'button[type="submit"]')[0]?.text).toBe('Upload and get a link')
  })

  test('names the limits and the command', () => {
    const html = pages.startPage(START, READER)
    expect(html).toContain('10 GB')
    expect(html).toContain('45 days')
    expect(find(html, 'code')[0]?.text).toBe('curl -T film.mkv https://files.example/')
  })

  test('leads to signing in instead where guests may not upload', () => {
    const html = pages.startPage({ ...START, guestUploads: false }, READER)
    expect(find(html, 'form, input')).toEqual([])
    expect(find(html, 'h1')[0]?.text).toBe('Sign in to upload')
    const [way] = find(html, 'main .closed a')
    expect([way?.text, way?.attributes.href]).toEqual(['Sign in', '/sign-in?next=%2F'])
    expect(find(html, 'code')[0]?.text).toContain('Authorization: Bearer')
  })
})

describe('a long name', () => {
  test.each([
    ['holiday pictures 2026.tar', 'holiday pictures ', '2026.tar'],
    ['report(final).docx', 'report(', 'final).docx'],
    ['README', '', 'README'],
    ['ملف طويل.pdf', 'ملف طويل', '.pdf'],
    ['cafe\u0301.txt', 'cafe\u0301', '.txt'],
    ['no extension here', 'no extension ', 'here'],
  ])('keeps its ending: %s', (name, start, end) => {
    expect(splitName(name)).toEqual([start, end])
  })
})

describe('an icon', () => {
  test('carries the extension in capitals', () => {
    expect(find(iconFor('application/pdf', 'Contract.v2.pdf'), 'text')[0]?.text).toBe('PDF')
  })

  test.each(['README', '.hidden', 'trailing.', 'x.averyverylongone', 'x.---'])(
    'has no label for %s',
    (name) => {
      expect(iconFor('application/octet-stream', name)).not.toContain('<text')
    },
  )

  test('never lets a name into its markup', () => {
    const icon = iconFor(HOSTILE, `a.<b>"&'\u0000`)
    // What follows the dot is no extension.
    expect(find(icon, 'text')).toEqual([])
    expect(find(icon, 'b, script, img')).toEqual([])
  })

  test.each([
    ['image/png', 'image/x-canon-cr2', 'a.png'],
    ['application/zip', 'application/octet-stream', 'a.zip'],
    ['text/csv; charset=utf-8', 'application/vnd.oasis.opendocument.spreadsheet', 'a.ods'],
    ['application/epub+zip', 'application/msword', 'a.docx'],
    ['application/json', 'application/octet-stream', 'a.rs'],
  ])('is the same for %s and %s', (one, other, name) => {
    expect(iconFor(one, name)).toBe(iconFor(other, name))
  })

  test('differs between kinds', () => {
    const types = [
      'image/png',
      'video/mp4',
      'audio/mpeg',
      'application/pdf',
      'text/plain',
      'text/html',
      'application/zip',
      'text/csv',
      'application/vnd.ms-powerpoint',
      'application/msword',
      'font/woff2',
      'application/vnd.android.package-archive',
      'application/octet-stream',
    ]
    expect(new Set(types.map((type) => iconFor(type, 'same'))).size).toBe(types.length)
  })
})
