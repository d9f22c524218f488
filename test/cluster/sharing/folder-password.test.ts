import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { HOUR, MINUTE } from '../../../src/domain/clock.ts'
import {
  bearer,
  changeFolder,
  elements,
  folderCookie,
  type Headers,
  makeFolder,
  openForm,
  passwordForm,
  signedAddress,
  submit,
  unlock,
  upload,
  visit,
} from '../../support/clients/public.ts'
import type { TestHoldfast } from '../../support/servers/holdfast.ts'
import { hostOfFile, ownedHost } from '../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
/** Behind a proxy, which tells the addresses of visitors. */
const proxied = await hostOfFile({ trustedProxies: ['127.0.0.1', '::1'] })

/** `password|epoch_ms|nonce`, as programs send it. */
function encoded(password: string, nonce: string, how: BufferEncoding = 'base64url'): string {
  return Buffer.from(`${password}|${host.clock.now()}|${nonce}`).toString(how)
}

async function isLocked(path: string, headers: Headers = {}): Promise<boolean> {
  const response = await visit(host, path, { headers })
  expect(response.status).toBe(200)
  return passwordForm(await response.text()) !== null
}

describe('the form of a locked folder', () => {
  test('stands on its page with a nonce and posts to that page', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const html = await (await visit(host, `/f/${folder}`)).text()
    const form = passwordForm(html)
    expect(form?.action).toBe(`/f/${folder}`)
    expect(form?.nonce).not.toBe('')
    expect(elements(html, 'form#password-form')[0]?.attributes.method?.toLowerCase()).toBe('post')
    expect(elements(html, 'form#password-form #nonce')[0]?.attributes.type).toBe('hidden')
    expect(elements(html, 'form#password-form input[name=password]')).toHaveLength(1)
  })

  test('stands on the page of a file inside and posts to the page of the folder', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const inner = await makeFolder(host, key, { parent: folder })
    const file = await upload(host, { key, folder: inner, name: 'secret-plan.txt' })
    const response = await visit(host, `/d/${file.slug}`)
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(passwordForm(html)?.action).toBe(`/f/${folder}`)
    for (const secret of ['secret-plan', file.uuid, file.sha256]) expect(html).not.toContain(secret)
    expect(response.headers.get('cache-control')).toContain('private')
  })

  test('is not shown to the owner', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    expect(await isLocked(`/f/${folder}`, bearer(key))).toBe(false)
    expect(await isLocked(`/f/${folder}`)).toBe(true)
  })

  test('is 404 where the folder is private', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const form = await openForm(host, `/f/${folder}`)
    await changeFolder(host, key, folder, { public: 0 })
    expect((await visit(host, `/f/${folder}`)).status).toBe(404)
    expect((await submit(host, form, 'sesame')).status).toBe(404)
    expect((await submit(host, form, 'wrong')).status).toBe(404)
  })

  test('is 404 for a folder that nobody has', async () => {
    const form = { action: '/f/aaaaaaaaaaaaaaaa', nonce: '', fields: {} }
    expect((await submit(host, form, 'sesame')).status).toBe(404)
  })
})

describe('the right password', () => {
  test('given as plain text answers 303 with the cookie and opens the folder', async () => {
    const folder = await makeFolder(host, key, { password: 'sésame, öffne dich' })
    await upload(host, { key, folder, name: 'inside.txt' })
    const answer = await submit(host, await openForm(host, `/f/${folder}`), 'sésame, öffne dich')
    expect(answer.status).toBe(303)
    const target = new URL(answer.headers.get('location') ?? '', host.url)
    expect(target.href).toBe(`${host.url}/f/${folder}`)
    const html = await (await visit(host, target.href, { headers: folderCookie(answer) })).text()
    expect(html).toContain('inside.txt')
  })

  test('given without any other field is enough', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const bare = { action: `/f/${folder}`, nonce: '', fields: {} }
    expect((await submit(host, bare, 'sesame')).status).toBe(303)
  })

  test('sets a cookie for 24 hours that no script can read', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const answer = await submit(host, await openForm(host, `/f/${folder}`), 'sesame')
    const cookie = answer.headers.getSetCookie().find((line) => line.startsWith('folder_access_token='))
    expect(cookie).toMatch(/;\s*HttpOnly/i)
    expect(cookie).toMatch(/;\s*Max-Age=86400/i)
    expect(cookie).toMatch(/;\s*Path=\/(;|$)/i)
    expect(cookie).toMatch(/;\s*SameSite=(Lax|Strict)/i)
    expect(cookie).not.toContain('sesame')
  })

  test('given as base64url of password, time and nonce opens the folder', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const form = await openForm(host, `/f/${folder}`)
    expect((await submit(host, form, encoded('sesame', form.nonce))).status).toBe(303)
  })

  // Of a password whose bytes need the characters in which the alphabets differ.
  test.each([
    ['standard base64', (text: string) => text],
    ['standard base64 without padding', (text: string) => text.replace(/=+$/, '')],
    ['URL-safe base64 with padding', (text: string) => text.replaceAll('+', '-').replaceAll('/', '_')],
  ])('may come in %s', async (_, written) => {
    const password = 'ÿ>ÿ?~~~ ünïcödé'
    const folder = await makeFolder(host, key, { password })
    const form = await openForm(host, `/f/${folder}`)
    expect((await submit(host, form, written(encoded(password, form.nonce, 'base64')))).status).toBe(303)
  })

  test.each(['a|b', '|', 'a|1700000000000|x', 'ünïcödé ✓', ' lead and trail '])(
    'may be %p, encoded or plain',
    async (password) => {
      const folder = await makeFolder(host, key, { password })
      const form = await openForm(host, `/f/${folder}`)
      expect((await submit(host, form, encoded(password, form.nonce))).status).toBe(303)
      expect((await submit(host, form, password)).status).toBe(303)
    },
  )

  test('encoded with a nonce that is not the page’s is read as plain text, and so is wrong', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const form = await openForm(host, `/f/${folder}`)
    expect((await submit(host, form, encoded('sesame', 'made-up'))).status).toBe(200)
    const forged = { ...form, fields: { ...form.fields, nonce: 'made-up' } }
    expect((await submit(host, forged, encoded('sesame', 'made-up'))).status).toBe(200)
    const nonceOfAnother = await openForm(host, `/f/${await makeFolder(host, key, { password: 'other' })}`)
    expect((await submit(host, form, encoded('sesame', nonceOfAnother.nonce))).status).toBe(200)
  })

  test('may itself look encoded', async () => {
    const password = Buffer.from('sesame|1700000000000|abcdef').toString('base64url')
    const folder = await makeFolder(host, key, { password })
    expect((await submit(host, await openForm(host, `/f/${folder}`), password)).status).toBe(303)
  })

  test('given on the page of a file leads back to that page and opens its bytes', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const file = await upload(host, { key, folder, name: 'inside.txt' })
    const answer = await submit(host, await openForm(host, `/d/${file.slug}`), 'sesame')
    expect(answer.status).toBe(303)
    const target = new URL(answer.headers.get('location') ?? '', host.url)
    expect(target.href).toBe(`${host.url}/d/${file.slug}`)
    const headers = folderCookie(answer)
    expect(await (await visit(host, target.href, { headers })).text()).toContain('inside.txt')
    const redirect = await visit(host, `/d/${file.slug}?download=1`, { headers })
    expect(redirect.status).toBe(302)
    const bytes = await visit(host, redirect.headers.get('location') ?? '', { headers })
    expect(bytes.status).toBe(200)
    expect((await bytes.bytes()).length).toBe(100)
    expect((await visit(host, `/t/${file.uuid}`, { headers })).status).toBe(200)
  })

  test.each(['https://evil.example/', '//evil.example/', '/\\evil.example/', 'javascript:alert(1)'])(
    'never leads to another site, not to %p',
    async (next) => {
      const folder = await makeFolder(host, key, { password: 'sesame' })
      const form = await openForm(host, `/f/${folder}`)
      const twisted = Object.keys(form.fields).filter((name) => name !== 'nonce')
      const fields = { ...form.fields, next, ...Object.fromEntries(twisted.map((name) => [name, next])) }
      const answer = await submit(host, { ...form, fields }, 'sesame')
      expect(answer.status).toBe(303)
      expect(new URL(answer.headers.get('location') ?? '', host.url).origin).toBe(host.url)
    },
  )
})

describe('a wrong password', () => {
  test('answers 200 with the form, a message and no cookie', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    await upload(host, { key, folder, name: 'secret-plan.txt' })
    const before = await (await visit(host, `/f/${folder}`)).text()
    const answer = await submit(host, await openForm(host, `/f/${folder}`), 'wrong')
    const html = await answer.text()
    expect(answer.status).toBe(200)
    expect(html).toContain('Wrong password')
    const inGerman = await submit(host, await openForm(host, `/f/${folder}`), 'wrong', {
      'accept-language': 'de',
    })
    expect(await inGerman.text()).toContain('Wrong password')
    expect(answer.headers.get('content-type')).toStartWith('text/html')
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(passwordForm(html)?.action).toBe(`/f/${folder}`)
    expect(html).not.toContain('secret-plan')
    const text = (page: string) => elements(page, 'body *').map((element) => element.text)
    expect(text(html).length).toBeGreaterThan(text(before).length)
  })

  test.each(['', 'SESAME', 'sesame ', 'sesam', '\0', 'x'.repeat(100_000)])(
    'is one that differs at all, such as %p',
    async (password) => {
      const folder = await makeFolder(host, key, { password: 'sesame' })
      const answer = await submit(host, await openForm(host, `/f/${folder}`), password)
      expect([200, 400, 413]).toContain(answer.status)
      expect(answer.headers.getSetCookie()).toEqual([])
    },
  )

  test('may be corrected on the page that reports it', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const wrong = await submit(host, await openForm(host, `/f/${folder}`), 'wrong')
    const form = passwordForm(await wrong.text())
    expect(form).not.toBeNull()
    if (form === null) return
    expect((await submit(host, form, encoded('sesame', form.nonce))).status).toBe(303)
  })
})

describe('the folder cookie', () => {
  test('is good for several folders', async () => {
    const first = await makeFolder(host, key, { password: 'one' })
    const second = await makeFolder(host, key, { password: 'two' })
    const third = await makeFolder(host, key, { password: 'three' })
    const one = await unlock(host, `/f/${first}`, 'one')
    expect(await isLocked(`/f/${second}`, one)).toBe(true)
    const two = await unlock(host, `/f/${second}`, 'two', one)
    expect(await isLocked(`/f/${first}`, two)).toBe(false)
    expect(await isLocked(`/f/${second}`, two)).toBe(false)
    expect(await isLocked(`/f/${third}`, two)).toBe(true)
  })

  test('is void when the password changes, also back to the same', async () => {
    const folder = await makeFolder(host, key, { password: 'one' })
    const file = await upload(host, { key, folder })
    const cookie = await unlock(host, `/f/${folder}`, 'one')
    const address = await signedAddress(host, file, 'download', cookie)
    expect((await visit(host, address, { headers: cookie })).status).toBe(200)
    await changeFolder(host, key, folder, { password: 'two' })
    expect(await isLocked(`/f/${folder}`, cookie)).toBe(true)
    expect(await isLocked(`/d/${file.slug}`, cookie)).toBe(true)
    expect((await visit(host, address, { headers: cookie })).status).toBe(403)
    await changeFolder(host, key, folder, { password: 'one' })
    expect(await isLocked(`/f/${folder}`, cookie)).toBe(true)
  })

  test('is not needed any more when the password is taken off', async () => {
    const folder = await makeFolder(host, key, { password: 'one' })
    await changeFolder(host, key, folder, { password: null })
    expect(await isLocked(`/f/${folder}`)).toBe(false)
  })

  test('opens nothing when it is made up or changed', async () => {
    const folder = await makeFolder(host, key, { password: 'one' })
    const { cookie = '' } = await unlock(host, `/f/${folder}`, 'one')
    const value = cookie.slice(cookie.indexOf('=') + 1)
    const middle = Math.floor(value.length / 2)
    const other = value[middle] === 'A' ? 'B' : 'A'
    const changed = value.slice(0, middle) + other + value.slice(middle + 1)
    for (const wrong of [changed, '', 'x', folder, value.slice(0, -4), '%00', `${value}${value}`]) {
      expect(await isLocked(`/f/${folder}`, { cookie: `folder_access_token=${wrong}` })).toBe(true)
    }
  })

  test('is worth nothing after 24 hours, whatever the browser keeps', async () => {
    const folder = await makeFolder(host, key, { password: 'one' })
    const headers = await unlock(host, `/f/${folder}`, 'one')
    host.clock.advance(23 * HOUR)
    const still = await (await visit(host, `/f/${folder}`, { headers })).text()
    expect(passwordForm(still)).toBeNull()
    host.clock.advance(HOUR + MINUTE)
    const later = await (await visit(host, `/f/${folder}`, { headers })).text()
    expect(passwordForm(later)).not.toBeNull()
  })
})

describe('nested locks', () => {
  test('are opened from the outermost inwards, and all of them are needed', async () => {
    const outer = await makeFolder(host, key, { password: 'outer' })
    const between = await makeFolder(host, key, { parent: outer })
    const inner = await makeFolder(host, key, { parent: between, password: 'inner' })
    const file = await upload(host, { key, folder: inner, name: 'innermost.txt' })
    const page = `/d/${file.slug}`

    expect((await openForm(host, page)).action).toBe(`/f/${outer}`)
    expect((await openForm(host, `/f/${inner}`)).action).toBe(`/f/${outer}`)
    const first = await unlock(host, page, 'outer')
    expect(await isLocked(`/f/${between}`, first)).toBe(false)
    expect((await openForm(host, page, first)).action).toBe(`/f/${inner}`)
    expect((await visit(host, `${page}?download=1`, { headers: first })).status).toBe(403)
    expect((await visit(host, `/t/${file.uuid}`, { headers: first })).status).toBe(403)

    const both = await unlock(host, page, 'inner', first)
    expect(await (await visit(host, page, { headers: both })).text()).toContain('innermost.txt')
    expect((await visit(host, `${page}?download=1`, { headers: both })).status).toBe(302)
  })

  test('stay closed to one who has only the inner password', async () => {
    const outer = await makeFolder(host, key, { password: 'outer' })
    const inner = await makeFolder(host, key, { parent: outer, password: 'inner' })
    const file = await upload(host, { key, folder: inner })
    const answer = await submit(host, { action: `/f/${inner}`, nonce: '', fields: {} }, 'inner')
    const cookies = answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
    const headers = { cookie: cookies.join('; ') }
    expect(await isLocked(`/f/${inner}`, headers)).toBe(true)
    expect((await visit(host, `/d/${file.slug}?download=1`, { headers })).status).toBe(403)
  })

  test('cover what is moved below them', async () => {
    const locked = await makeFolder(host, key, { password: 'outer' })
    const folder = await makeFolder(host, key)
    const file = await upload(host, { key, folder })
    await visit(host, '/api/v1/folder/move', {
      method: 'POST',
      headers: { ...bearer(key), 'content-type': 'application/json' },
      body: JSON.stringify({ folder, parent: locked }),
    })
    expect(await isLocked(`/d/${file.slug}`)).toBe(true)
    expect((await visit(host, `/t/${file.uuid}`)).status).toBe(403)
  })
})

describe('guessing', () => {
  const from = (address: string): Headers => ({ 'x-forwarded-for': address })

  /** The statuses of so many wrong tries. */
  async function guess(own: TestHoldfast, folder: string, tries: number, headers: Headers = {}) {
    const form = { action: `/f/${folder}`, nonce: '', fields: {} }
    const statuses: number[] = []
    for (let attempt = 0; attempt < tries; attempt += 1) {
      statuses.push((await submit(own, form, 'wrong', headers)).status)
    }
    return statuses
  }

  /** Behind "sesame", whose hash takes next to nothing to compare: what is told apart here is only how often it is done. */
  async function lockedFolder(own: TestHoldfast): Promise<string> {
    const account = await own.addAccount()
    const folder = await makeFolder(own, account.apiKey)
    const hash = await Bun.password.hash('sesame', { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })
    await sql`update folders set password_hash = ${hash} where identifier = ${folder}`.execute(own.database)
    return folder
  }

  const times = (count: number, status: number) => Array.from({ length: count }, () => status)

  test('is refused after 10 tries in 15 minutes, the right password too', async () => {
    const folder = await lockedFolder(host)
    const other = await lockedFolder(host)
    expect(await guess(host, folder, 10)).toEqual(times(10, 200))
    const form = await openForm(host, `/f/${folder}`)
    const refused = await submit(host, form, 'sesame')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(15 * 60)
    expect(refused.headers.getSetCookie()).toEqual([])
    expect((await submit(host, await openForm(host, `/f/${other}`), 'sesame')).status).toBe(303)
    host.clock.advance(15 * MINUTE + 1000)
    expect((await submit(host, form, 'sesame')).status).toBe(303)
  })

  test('is refused 60 times in an hour from any number of addresses', async () => {
    const folder = await lockedFolder(proxied)
    for (let address = 1; address <= 6; address += 1) {
      expect(await guess(proxied, folder, 10, from(`198.51.100.${address}`))).toEqual(times(10, 200))
    }
    const form = await openForm(proxied, `/f/${folder}`)
    expect((await submit(proxied, form, 'sesame', from('198.51.100.7'))).status).toBe(429)
    proxied.clock.advance(HOUR + MINUTE)
    expect((await submit(proxied, form, 'sesame', from('198.51.100.7'))).status).toBe(303)
  })

  test('is counted for each address apart, where a proxy tells it', async () => {
    const folder = await lockedFolder(proxied)
    expect((await guess(proxied, folder, 11, from('198.51.100.1'))).at(-1)).toBe(429)
    const form = await openForm(proxied, `/f/${folder}`)
    expect((await submit(proxied, form, 'sesame', from('198.51.100.2'))).status).toBe(303)
  })

  test('cannot hide behind a forwarded header that no proxy wrote', async () => {
    const folder = await lockedFolder(host)
    expect(await guess(host, folder, 10, from('198.51.100.1'))).toEqual(times(10, 200))
    expect(await guess(host, folder, 1, from('198.51.100.2'))).toEqual([429])
  })

  test('in parallel gets no further', async () => {
    const folder = await lockedFolder(host)
    const rounds = await Promise.all(Array.from({ length: 15 }, () => guess(host, folder, 1)))
    expect(rounds.flat().toSorted()).toEqual([...times(10, 200), ...times(5, 429)])
  })
})
