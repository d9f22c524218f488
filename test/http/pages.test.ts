import { describe, expect, test } from 'bun:test'
import { iconFor } from '../../src/http/content/icons.ts'
import { assets, faviconPath, stylesheetPath } from '../../src/http/site/assets.ts'
import { splitName } from '../../src/http/site/pages/file-name.tsx'
import {
  renderErrorPage,
  renderFilePage,
  renderFolderPage,
  renderPasswordPage,
  renderStartPage,
} from '../../src/http/site/render.ts'
import type {
  FilePageView,
  FolderPageView,
  PasswordPageView,
  StartPageView,
} from '../../src/http/site/views.ts'

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='a()'>&amp; data-opens="evil" .mp4`

const FILE: FilePageView = {
  name: 'film & more.mkv',
  uuid: '3f2b8c1e-7a54-4c0d-9b1e-2f6d8a7c5e10',
  size: 1536,
  type: 'video/x-matroska',
  uploadedAt: '2026-03-12T09:15:00.123Z',
  expiresAt: '2026-04-26T09:15:00.123Z',
  sha256: 'ab'.repeat(32),
  views: 1204,
  downloads: 87,
  url: 'https://files.example/d/Abcdefghijkl',
  thumbnailUrl: 'https://files.example/t/3f2b8c1e-7a54-4c0d-9b1e-2f6d8a7c5e10',
  downloadUrl: '/d/Abcdefghijkl?download=1',
  preview: null,
  folder: null,
}

const ITEM: FolderPageView['files'][number] = {
  name: 'one.txt',
  slug: 'Abcdefghijkl',
  size: 1234,
  type: 'text/plain',
  createdAt: '2026-03-12T09:15:00.123Z',
  thumbnailUrl: '/t/3f2b8c1e-7a54-4c0d-9b1e-2f6d8a7c5e10',
}

const FOLDER: FolderPageView = {
  name: 'Summer',
  identifier: 'abcdefghijklmnop',
  url: 'https://files.example/f/abcdefghijklmnop',
  parent: null,
  folders: [],
  files: [ITEM],
  fileCount: 1,
  page: 1,
  pages: 1,
}

const PASSWORD: PasswordPageView = { action: '/f/x', nonce: 'n0nce', next: '/d/Abcdefghijkl', error: null }

const START: StartPageView = {
  publicUrl: 'https://files.example',
  guestUploads: true,
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
  ['file', renderFilePage({ ...FILE, name: HOSTILE, type: HOSTILE, folder: { name: HOSTILE, url: '/f/a' } })],
  [
    'image',
    renderFilePage({ ...FILE, name: HOSTILE, preview: { kind: 'image', url: '/v2/a.png?token=a&b' } }),
  ],
  ['video', renderFilePage({ ...FILE, name: HOSTILE, preview: { kind: 'video', url: '/v2/a.mp4' } })],
  ['audio', renderFilePage({ ...FILE, name: HOSTILE, preview: { kind: 'audio', url: '/v2/a.mp3' } })],
  [
    'folder',
    renderFolderPage({
      ...FOLDER,
      name: HOSTILE,
      parent: { name: HOSTILE, url: '/f/p' },
      folders: [{ name: HOSTILE, url: '/f/s', fileCount: 1 }],
      files: [{ ...ITEM, name: HOSTILE, type: HOSTILE }],
    }),
  ],
  ['password', renderPasswordPage({ action: '/f/x', nonce: HOSTILE, next: HOSTILE, error: HOSTILE })],
  ['error', renderErrorPage({ status: 404, title: HOSTILE, message: HOSTILE })],
  ['start', renderStartPage({ ...START, publicUrl: `https://files.example/${HOSTILE}` })],
]

describe('every page', () => {
  test.each(everyPage)('is a whole document with the stylesheet: %s', (_, html) => {
    expect(html).toStartWith('<!doctype html><html lang="en">')
    expect(html).toEndWith('</html>')
    expect(find(html, 'link[rel="stylesheet"]')[0]?.attributes.href).toBe(stylesheetPath)
    expect(find(html, 'meta[name="viewport"]')).toHaveLength(1)
    expect(find(html, 'h1')).toHaveLength(1)
    expect(find(html, 'main')).toHaveLength(1)
  })

  test.each(everyPage)('holds no script, no inline style and no markup from values: %s', (_, html) => {
    expect(find(html, 'script, style, [style], [onerror]')).toEqual([])
    expect(find(html, '[src="x"]')).toEqual([])
    const handlers = find(html, '[onclick]').map((element) => element.attributes.onclick)
    expect(handlers.filter((text) => text !== "window.location.href='/d/Abcdefghijkl'")).toEqual([])
    expect(find(html, '[data-opens]')).toEqual([])
  })
})

describe('the file page', () => {
  test('describes the file to other sites', () => {
    const html = renderFilePage({ ...FILE, name: HOSTILE })
    expect(meta(html, 'og:title')).toBe(HOSTILE)
    expect(meta(html, 'og:image')).toBe(FILE.thumbnailUrl)
    expect(meta(html, 'og:url')).toBe(FILE.url)
    expect(meta(html, 'og:site_name')).toBe('Holdfast')
    expect(find(html, 'meta[name="twitter:card"]')[0]?.attributes.content).toBe('summary')
  })

  test('lists labels and values as neighbouring spans', () => {
    const html = renderFilePage(FILE)
    const texts = find(html, '#detailsContent span').map((span) => span.text)
    const values = Object.fromEntries(texts.flatMap((text, at) => (at % 2 ? [] : [[text, texts[at + 1]]])))
    expect(values).toEqual({
      UUID: FILE.uuid,
      Type: FILE.type,
      Uploaded: FILE.uploadedAt,
      Size: '1.5 KB',
      'SHA-256': FILE.sha256,
      Views: '1,204',
      Downloads: '87',
    })
    expect(html).toContain(`<span>UUID</span><span>${FILE.uuid}</span>`)
    expect(find(html, '#detailsContent span[title="1,536 bytes"]').map((span) => span.text)).toEqual([
      '1.5 KB',
    ])
  })

  test('has one download button, which is a link', () => {
    const buttons = find(renderFilePage(FILE), '.button')
    expect(buttons.map((button) => [button.attributes.href, button.text])).toEqual([
      [FILE.downloadUrl, 'Download'],
    ])
  })

  test('tells when the file goes away', () => {
    const times = find(renderFilePage(FILE), 'time').map((time) => time.text)
    expect(times).toContain('26 April 2026')
  })

  test('shows an image, plays video and audio, and has an icon for the rest', () => {
    const url = '/v2/a?token=a&b'
    const image = renderFilePage({ ...FILE, preview: { kind: 'image', url } })
    expect(find(image, 'main img').map((element) => element.attributes.src)).toEqual([url])
    for (const kind of ['video', 'audio'] as const) {
      const player = find(renderFilePage({ ...FILE, preview: { kind, url } }), kind)[0]?.attributes
      expect(player?.src).toBe(url)
      expect(player?.preload).toBe('metadata')
      expect(player).toHaveProperty('controls')
    }
    expect(find(renderFilePage(FILE), 'main img')[0]?.attributes.src).toBe(FILE.thumbnailUrl)
  })

  test('leads to the folder only when there is one to see', () => {
    const folder = { name: 'Summer', url: 'https://files.example/f/abcdefghijklmnop' }
    expect(find(renderFilePage({ ...FILE, folder }), `a[href="${folder.url}"]`)).toHaveLength(1)
    expect(find(renderFilePage(FILE), 'a').map((link) => link.attributes.href)).toEqual([
      '/',
      FILE.downloadUrl,
    ])
  })
})

describe('the folder page', () => {
  test('carries what programs read, and a link for people', () => {
    const html = renderFolderPage({ ...FOLDER, files: [{ ...ITEM, name: HOSTILE }] })
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
    const links = find(renderFolderPage({ ...FOLDER, folders }), 'a.subfolder-item')
    expect(links.map((link) => link.attributes.href)).toEqual(['https://files.example/f/bbbbbbbbbbbbbbbb'])
  })

  test.each([
    [1, 1, []],
    [1, 3, [['?page=2', '→']]],
    [
      2,
      3,
      [
        ['?page=1', '←'],
        ['?page=3', '→'],
      ],
    ],
    [3, 3, [['?page=2', '←']]],
  ])('on page %d of %d links its neighbours', (page, pages, expected) => {
    const links = find(renderFolderPage({ ...FOLDER, page, pages }), 'a.page-link')
    expect(links.map((link) => [link.attributes.href ?? '', link.text])).toEqual(expected)
  })

  test('is a gallery when most files are pictures or video, else a list', () => {
    const picture = { ...ITEM, type: 'image/png' }
    const film = { ...ITEM, type: 'video/mp4' }
    expect(find(renderFolderPage({ ...FOLDER, files: [picture, film, ITEM] }), 'ul.gallery')).toHaveLength(1)
    expect(find(renderFolderPage({ ...FOLDER, files: [picture, ITEM] }), 'ul.list')).toHaveLength(1)
  })

  test('says what an empty folder is for', () => {
    const html = renderFolderPage({ ...FOLDER, files: [], fileCount: 0, pages: 0 })
    expect(find(html, '.empty')).toHaveLength(1)
    expect(find(html, 'ul')).toEqual([])
  })
})

describe('the password page', () => {
  test('has the form that clients look for, and is not to be indexed', () => {
    const html = renderPasswordPage(PASSWORD)
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
    const html = renderPasswordPage({ ...PASSWORD, error: 'That is not the password.' })
    expect(find(html, '[role="alert"]').map((alert) => alert.text)).toEqual(['That is not the password.'])
  })
})

test('the error page shows status, title and message, and a way on', () => {
  const html = renderErrorPage({ status: 404, title: 'Nothing here', message: 'The file may be gone.' })
  expect(find(html, 'main p').map((line) => line.text)).toEqual(['404', 'The file may be gone.'])
  expect(find(html, 'h1')[0]?.text).toBe('Nothing here')
  expect(find(html, 'main a')[0]?.attributes.href).toBe('/')
})

describe('the start page', () => {
  test('takes a file', () => {
    const html = renderStartPage(START)
    const form = find(html, 'form')[0]?.attributes
    expect(form).toMatchObject({ action: '/', method: 'post' })
    expect(form?.enctype).toBe('multipart/form-data')
    expect(find(html, 'input').map(({ attributes }) => [attributes.type, attributes.name])).toEqual([
      ['file', 'file'],
    ])
    expect(find(html, 'input[required]')).toHaveLength(1)
    expect(find(html, 'button')[0]?.text).toBe('Upload and get a link')
  })

  test('names the limits and the command', () => {
    const html = renderStartPage(START)
    expect(html).toContain('10 GB')
    expect(html).toContain('45 days')
    expect(find(html, 'code')[0]?.text).toBe('curl -F file=@film.mkv https://files.example/api/v1/upload')
  })

  test('asks for a key instead where guests may not upload', () => {
    const html = renderStartPage({ ...START, guestUploads: false })
    expect(find(html, 'form, input')).toEqual([])
    expect(find(html, 'h1')[0]?.text).toContain('API key')
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

describe('assets', () => {
  test('are named by what they hold', () => {
    expect(stylesheetPath).toMatch(/^\/assets\/site-[0-9a-f]{8}\.css$/)
    const stylesheet = assets.get(stylesheetPath)
    expect(stylesheet?.type).toStartWith('text/css')
    const hash = new Bun.CryptoHasher('sha256').update(stylesheet?.body ?? '').digest('hex')
    expect(stylesheetPath).toContain(hash.slice(0, 8))
    expect(assets.get(faviconPath)?.type).toBe('image/svg+xml')
  })

  test('load nothing from elsewhere', () => {
    for (const { body } of assets.values()) {
      expect(String(body).replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\(|@import/)
    }
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
    expect(find(icon, 'text')[0]?.text).toBe('B')
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
