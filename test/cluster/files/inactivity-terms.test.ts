/** How long files stay that nobody uses, where settings or an administrator say otherwise, and what keeps one. */
// Only in test:all: expiry-boundaries.contract.test.ts has the same by its parts.
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { DAY } from '../../../src/domain/clock.ts'
import { detail } from '../../support/clients/answers.ts'
import { api, newcomer } from '../../support/clients/api.ts'
import { signedIn } from '../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { administrator } from '../../support/sign-in/administrator.ts'

const expiry = z.object({ data: z.object({ expires_at: z.string().nullable() }) })
const given = z.object({ slug: z.string(), receipt: z.string() })

async function withHost(
  settings: Parameters<typeof startHoldfast>[0],
  work: (host: TestHoldfast) => Promise<void>,
) {
  const own = await startHoldfast(settings)
  try {
    await work(own)
  } finally {
    await own.stop()
  }
}

/** When the file of an account and that of a guest end, as all that speaks of it says. */
async function ends(host: TestHoldfast) {
  const { username, apiKey } = await host.addAccount()
  const caller = api(host, apiKey)
  const person = await signedIn(host, username)
  const { slug, url } = await caller.put('x')
  const guest = given.parse((await api(host).upload('y')).body)
  const at = (text: string | null) => text && Math.round((Date.parse(text) - host.clock.now()) / DAY)
  const text = async (path: string, language: string, by?: typeof person) => {
    const headers = { 'accept-language': language }
    const html = by
      ? (await by.get(path, headers)).text
      : await (await fetch(host.url + path, { headers })).text()
    return html.replace(/<[^>]+>/g, '')
  }
  return {
    account: at(expiry.parse((await caller.get(`/api/v1/file/${slug}`)).body).data.expires_at),
    receipt: at(expiry.parse((await api(host).get(`/api/v1/receipt/${guest.receipt}`)).body).data.expires_at),
    kept: at(
      expiry.parse(
        (
          await api(host).send(`/api/v1/receipt/${guest.receipt}`, {
            method: 'PATCH',
            body: JSON.stringify({ keep: true }),
            headers: { 'content-type': 'application/json' },
          })
        ).body,
      ).data.expires_at,
    ),
    start: await text('/', 'en'),
    startOfAccount: await text('/', 'de', person),
    receiptPage: await text(`/r/${guest.receipt}`, 'en'),
    receiptPageInGerman: await text(`/r/${guest.receipt}`, 'de'),
    page: await text(new URL(url).pathname, 'en'),
    guestPage: await text(`/d/${guest.slug}`, 'de'),
  }
}

describe('where the settings let files stay for good', () => {
  test('nothing says that one ends, and none does', async () => {
    await withHost({ inactiveDays: 0 }, async (host) => {
      const said = await ends(host)
      expect([said.account, said.receipt, said.kept]).toEqual([null, null, null])
      expect(said.start).toContain('Up to')
      expect(said.start).not.toContain('are deleted')
      expect(said.startOfAccount).not.toContain('werden gelöscht')
      expect(said.page).not.toContain('Will be deleted')
      expect(said.guestPage).not.toContain('Wird am')
      expect(said.receiptPage).toContain('It stays until you delete it.')
      expect(said.receiptPageInGerman).toContain('Sie bleibt, bis du sie löschst.')
      host.clock.advance(36_500 * DAY)
      await host.runJobs()
      const { files } = await host.database
        .selectFrom('files')
        .select(({ fn }) => fn.countAll<number>().as('files'))
        .where('removed_at', 'is', null)
        .executeTakeFirstOrThrow()
      expect(Number(files)).toBe(2)
    })
  })

  test('to accounts alone, files of guests end, and everything says which is which', async () => {
    await withHost({ inactiveDays: 3, accountInactiveDays: 0 }, async (host) => {
      const said = await ends(host)
      expect([said.account, said.receipt, said.kept]).toEqual([null, 3, 3])
      expect(said.start).toContain('Files that nobody opens for 3 days are deleted.')
      expect(said.startOfAccount).not.toContain('werden gelöscht')
      expect(said.page).not.toContain('Will be deleted')
      expect(said.guestPage).toContain('Wird am')
      expect(said.receiptPage).toContain('Will be deleted')
    })
  })
})

describe('an account to which an administrator gives days of its own', () => {
  test('has files that end by them, at once and everywhere, while other files end as before', async () => {
    await withHost({ inactiveDays: 10, accountInactiveDays: 20 }, async (host) => {
      const root = await administrator(host)
      const { id, username, apiKey } = await host.addAccount()
      const caller = api(host, apiKey)
      const person = await signedIn(host, username)
      const other = await newcomer(host)
      const [own, others] = [await caller.put('x'), await other.put('y')]
      const endOf = async (of: typeof caller, slug: string) =>
        expiry.parse((await of.get(`/api/v1/file/${slug}`)).body).data.expires_at
      const left = async (of: typeof caller, slug: string) => {
        const end = await endOf(of, slug)
        return end === null ? null : Math.round((Date.parse(end) - host.clock.now()) / DAY)
      }
      const set = (days: unknown) =>
        root.send('PATCH', `/api/v1/admin/account/${id}`, { inactive_days: days })
      expect([await left(caller, own.slug), await left(other, others.slug)]).toEqual([20, 20])
      const states = [
        [90, 90],
        [0, null],
        [null, 20],
        [30, 30],
      ] as const
      for (const [days, inForce] of states) {
        expect((await set(days)).data(z.looseObject({}))).toMatchObject({
          inactive_days: days,
          expires_after_days: inForce,
        })
        expect([await left(caller, own.slug), await left(other, others.slug)]).toEqual([inForce, 20])
      }
      expect((await person.get('/')).text).toContain('30 days')
      expect((await root.deeds('account.inactive_days'))[0]).toMatchObject({
        object: username,
        details: { inactive_days: 30, before: null },
      })
      for (const wrong of [-1, 1.5, 36_501, '30', true]) {
        expect((await set(wrong)).error).toBe('INVALID_REQUEST')
      }
      expect((await root.send('PATCH', '/api/v1/admin/account/0', { inactive_days: 1 })).error).toBe(
        'NOT_FOUND',
      )
      host.clock.advance(21 * DAY)
      await host.runJobs()
      expect([
        (await caller.get(`/api/v1/file/${own.slug}`)).status,
        (await other.get(`/api/v1/file/${others.slug}`)).status,
      ]).toEqual([200, 404])
      await set(21)
      host.clock.advance(60_000)
      await host.runJobs()
      expect((await caller.get(`/api/v1/file/${own.slug}`)).status).toBe(404)
      await set(0)
      await host.runJobs()
      expect(await left(caller, own.slug)).toBe(null)
    })
  })
})

describe('a look', () => {
  test('is what an owner does who opens details on the site, counts no view, and a key does none', async () => {
    await withHost({}, async (host) => {
      const { username, apiKey } = await host.addAccount()
      const caller = api(host, apiKey)
      const [looked, asked] = [await caller.put('x'), await caller.put('y')]
      host.clock.advance(40 * DAY)
      const person = await signedIn(host, username)
      const detailOf = z.object({ views: z.number(), expires_at: z.string() })
      const { views, expires_at } = (await person.get(`/api/v1/file/${looked.slug}`)).data(detailOf)
      expect(views).toBe(0)
      expect(Math.round((Date.parse(expires_at) - host.clock.now()) / DAY)).toBe(45)
      await caller.get(`/api/v1/file/${asked.slug}`)
      await person.get('/api/v1/files')
      host.clock.advance(6 * DAY)
      await host.runJobs()
      expect((await caller.get(`/api/v1/file/${asked.slug}`)).status).toBe(404)
      expect(await detail(caller, looked.slug)).toMatchObject({ views: 0, downloads: 0, expires_at })
    })
  })
})
