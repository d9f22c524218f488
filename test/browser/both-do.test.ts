/**
 * The habit that the command line has what the page lacks: one list of situations, tried on both. The table of
 * docs/guide/client.md is this list.
 */
// Only in test:all: waits as servers ask; changing-files and test/server/client have most of it.
import { describe, expect, test } from 'bun:test'
import { appendFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY, HOUR } from '../../src/domain/clock.ts'
import { describeInBrowser, openPage } from '../support/browser/browser.ts'
import { dropAt, fileIn, slugOf, startPageIn, uploadIn } from '../support/browser/start-page.ts'
import { chance } from '../support/chance.ts'
import { lines, newClient } from '../support/cli/client.ts'
import { api } from '../support/clients/api.ts'
import { type Caller, caller, readBack, sha256 } from '../support/clients/caller.ts'
import { makeLink, revokeLink } from '../support/clients/links.ts'
import { GENEROUS, makeFolder } from '../support/clients/public.ts'
import { signedIn } from '../support/clients/site-visitor.ts'
import { guestAt, tus } from '../support/clients/tus.ts'
import { eventually } from '../support/eventually.ts'
import { FOR_CHROMIUM, temporaryFolder } from '../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from '../support/storage/fault-proxy.ts'

const MIB = 1024 ** 2
/** Goes in two requests: all but the last bytes, and these. */
const LARGE = 9 * MIB

/** A server, and the proxy that everybody comes by. */
interface Place {
  readonly host: TestHoldfast
  readonly proxy: FaultProxy
}

/** Somebody with an account. */
interface Person {
  readonly username: string
  readonly key: string
  readonly api: Caller
}

interface Ended {
  /** Null where it is not stored. */
  readonly link: string | null
  /** All that is said of it. */
  readonly said: string
}

/** Somebody who sends files, by the page or by the command line. */
interface Sender extends AsyncDisposable {
  /** Begins to send what lies at the paths. `folder`: where it goes. */
  send(paths: readonly string[], folder?: string): Promise<void>
  /** Resolves when a file is done, or over. */
  ended(name: string): Promise<Ended>
  /** Resolves when it is said that nothing moves, and why. */
  waits(why: RegExp): Promise<void>
  /** Signs in anew, and goes on. */
  signInAgain(): Promise<void>
  /** Looks at an address of the site, without sending; what is said of it. */
  looks(path: string): Promise<string>
}

/** `person`: null for a guest. */
type Way = (place: Place, person: Person | null) => Promise<Sender>

interface Situation {
  /** As in the table of the guide. */
  readonly when: string
  readonly both: string
  readonly settings?: Parameters<typeof startHoldfast>[0]
  readonly isGuest?: true
  readonly happens: (trial: Trial) => Promise<void>
}

interface Trial extends Place {
  readonly sender: Sender
  /** Whose uploads these are; of a guest's trial somebody else. */
  readonly person: Person
  /** Local. */
  readonly folder: string
}

const random = chance(173)
const isPatch = ({ method }: ProxiedRequest) => method === 'PATCH'
const isCreation = ({ method, path }: ProxiedRequest) =>
  method === 'POST' && /^\/api\/v1\/uploads?$/.test(path)
const pathOf = ({ path }: ProxiedRequest) => path.replace(/\?.*/, '')

/** `act` happens before such a request passes, the `nth` of them; whatever comes until that is done is cut. */
function before(
  { proxy }: Place,
  match: (request: ProxiedRequest) => boolean,
  nth: number,
  act: (request: ProxiedRequest) => Promise<unknown>,
): void {
  let seen = 0
  let state: 'to come' | 'under way' | 'over' = 'to come'
  const isCut = (request: ProxiedRequest) => {
    if (state === 'to come' && match(request)) {
      seen += 1
      if (seen === nth) {
        state = 'under way'
        act(request).finally(() => {
          state = 'over'
        })
      }
    }
    return state === 'under way'
  }
  proxy.inject({ kind: 'cut' }, { match: isCut, times: Number.POSITIVE_INFINITY })
}

async function film({ folder }: Trial, size = LARGE) {
  const bytes = random.bytes(size)
  return { path: await fileIn(folder, 'film.mkv', bytes), whole: { size, sha256: sha256(bytes) } }
}

const letter = ({ folder }: Trial) => fileIn(folder, 'letter.txt', Buffer.from('letter'))

const stored = ({ host }: Trial, { link }: Ended) => readBack(host.url, slugOf(link ?? ''))

/** What the account has, done and on the way. */
async function held({ person }: Trial) {
  const unfinished = JSON.stringify(await person.api.get('/api/v1/uploads'))
  return {
    files: (await person.api.files()).map(({ name }) => name).toSorted(),
    isUnderWay: !unfinished.includes('"data":[]'),
  }
}

const SITUATIONS: readonly Situation[] = [
  {
    when: 'refused: the account has no space for the file',
    both: 'end it at once and say what helps; nothing of it is kept, and other files go',
    settings: { storageLimit: MIB },
    async happens(trial) {
      await trial.sender.send([(await film(trial, 2 * MIB)).path, await letter(trial)])
      const { link, said } = await trial.sender.ended('film.mkv')
      expect([link, /delete/i.test(said)]).toEqual([null, true])
      expect((await trial.sender.ended('letter.txt')).link).not.toBeNull()
      expect(await held(trial)).toEqual({ files: ['letter.txt'], isUnderWay: false })
    },
  },
  {
    when: 'refused: the file is larger than the server takes',
    both: 'end it at once and name the limit; nothing of it is kept, and other files go',
    settings: { maxFileSize: MIB },
    async happens(trial) {
      await trial.sender.send([(await film(trial, 2 * MIB)).path, await letter(trial)])
      const { link, said } = await trial.sender.ended('film.mkv')
      expect([link, said.includes('1 MB')]).toEqual([null, true])
      expect((await trial.sender.ended('letter.txt')).link).not.toBeNull()
      expect(await held(trial)).toEqual({ files: ['letter.txt'], isUnderWay: false })
    },
  },
  {
    when: 'refused: the account may no longer upload',
    both: 'end it and say whom to ask; what has arrived is kept',
    async happens(trial) {
      before(trial, isPatch, 2, () => trial.host.disableAccount(trial.person.username))
      await trial.sender.send([(await film(trial)).path])
      const { link, said } = await trial.sender.ended('film.mkv')
      expect([link, /disabled|may not upload|signed out/.test(said)]).toEqual([null, true])
    },
  },
  {
    when: 'gone: the folder was deleted',
    both: 'end it and say that the folder is gone; nothing of it is kept',
    async happens(trial) {
      const { key, api: program } = trial.person
      const folder = await makeFolder(trial.host, key, { name: 'Films' })
      before(trial, isCreation, 1, () => program.post('/folder/delete', { identifiers: [folder] }))
      await trial.sender.send([(await film(trial)).path], folder)
      const { link, said } = await trial.sender.ended('film.mkv')
      expect([link, /no such folder|folder.* no longer exists/i.test(said)]).toEqual([null, true])
      expect(await held(trial)).toEqual({ files: [], isUnderWay: false })
    },
  },
  {
    when: 'gone: the upload was deleted on the server',
    both: 'begin it anew, twice at most; the file is stored once',
    isGuest: true,
    async happens(trial) {
      const { path, whole } = await film(trial)
      before(trial, isPatch, 2, (request) => tus(guestAt(trial.host.url)).remove(pathOf(request)))
      await trial.sender.send([path])
      expect(await stored(trial, await trial.sender.ended('film.mkv'))).toEqual(whole)
    },
  },
  {
    when: 'changed: the file is written to while it is sent',
    both: 'end it and say so; nothing of it is stored',
    async happens(trial) {
      const { path } = await film(trial)
      before(trial, isPatch, 2, () => appendFile(path, 'more'))
      await trial.sender.send([path])
      const { link, said } = await trial.sender.ended('film.mkv')
      expect([link, said.includes('changed')]).toEqual([null, true])
      await eventually('nothing is left of it', async () => !(await held(trial)).isUnderWay)
      expect((await held(trial)).files).toEqual([])
    },
  },
  {
    when: 'unreadable: one of several files is gone, leads nowhere, or is not for this person',
    both: 'name it; the others go',
    async happens(trial) {
      const alone = join(trial.folder, 'alone.txt')
      await symlink(join(trial.folder, 'nowhere'), alone)
      await trial.sender.send([alone, await letter(trial)])
      expect((await trial.sender.ended('letter.txt')).link).not.toBeNull()
      const { link, said } = await trial.sender.ended('alone.txt')
      expect([link, /could not be read|does not exist/.test(said)]).toEqual([null, true])
      expect(await held(trial)).toEqual({ files: ['letter.txt'], isUnderWay: false })
    },
  },
  {
    when: 'cut: the connection breaks',
    both: 'go on by themselves from what has arrived, under the same link, with growing pauses',
    async happens(trial) {
      const { path, whole } = await film(trial)
      const { proxy } = trial
      proxy.inject({ kind: 'cut-request', after: 4 * MIB }, { match: isPatch, times: 2 })
      proxy.inject({ kind: 'lose-answer' }, { match: isPatch })
      await trial.sender.send([path])
      expect(await stored(trial, await trial.sender.ended('film.mkv'))).toEqual(whole)
      expect(proxy.requests.filter(isCreation)).toHaveLength(1)
      expect(await held(trial)).toEqual({ files: ['film.mkv'], isUnderWay: false })
    },
  },
  {
    when: 'cut: a gateway answers that the server is not there',
    both: 'the same',
    async happens(trial) {
      const { path, whole } = await film(trial)
      const { proxy } = trial
      proxy.inject({ kind: 'answer', status: 502 }, { match: isPatch, times: 3 })
      await trial.sender.send([path])
      expect(await stored(trial, await trial.sender.ended('film.mkv'))).toEqual(whole)
      expect(proxy.requests.filter(isCreation)).toHaveLength(1)
    },
  },
  {
    when: 'full: the server has no space',
    both: 'say so, wait as the server asks, and go on once there is some',
    settings: { guestStorage: 4 * MIB },
    isGuest: true,
    async happens(trial) {
      const visitor = tus(guestAt(trial.host.url))
      const filler = await visitor.start(3 * MIB, { filename: 'filler.bin' })
      await visitor.patch(filler.path, 0, random.bytes(2 * MIB))
      const { path, whole } = await film(trial, 3 * MIB)
      await trial.sender.send([path])
      await trial.sender.waits(/space/)
      await visitor.remove(filler.path)
      expect(await stored(trial, await trial.sender.ended('film.mkv'))).toEqual(whole)
    },
  },
  {
    when: 'expired: it stood still for longer than the server keeps what has arrived',
    both: 'begin it anew; the file is stored once',
    async happens(trial) {
      const { path, whole } = await film(trial)
      before(trial, isPatch, 2, async () => {
        trial.host.clock.advance(DAY + HOUR)
        await trial.host.runJobs()
      })
      await trial.sender.send([path])
      expect(await stored(trial, await trial.sender.ended('film.mkv'))).toEqual(whole)
      expect(await held(trial)).toEqual({ files: ['film.mkv'], isUnderWay: false })
    },
  },
  {
    when: 'expired: the key or the session has ended',
    both: 'end it and say how to sign in; what has arrived is kept, and goes on then',
    async happens(trial) {
      const { path, whole } = await film(trial)
      const { username, key } = trial.person
      before(trial, isPatch, 2, async () => {
        await trial.host.revokeKey(key)
        await signedIn(trial.host, username)
      })
      await trial.sender.send([path])
      const { link, said } = await trial.sender.ended('film.mkv')
      expect([link, /sign in|holdfast login/i.test(said)]).toEqual([null, true])
      await trial.sender.signInAgain()
      expect(await stored(trial, await trial.sender.ended('film.mkv'))).toEqual(whole)
      expect(trial.proxy.requests.filter(isCreation)).toHaveLength(1)
    },
  },
  {
    when: 'gone: the file of a link was deleted',
    both: 'say that there is no such file',
    async happens(trial) {
      const { slug } = await api(trial.host, trial.person.key).put('gone')
      await trial.person.api.post('/file/delete', { identifiers: [slug] })
      expect(await trial.sender.looks(`/d/${slug}`)).toMatch(/no such file|file is not here|not found/i)
    },
  },
  {
    when: 'expired: a made link has ended or was taken back',
    both: 'say that there is no such link',
    async happens(trial) {
      const { host, person } = trial
      const { slug: file } = await api(host, person.key).put('linked')
      const link = await makeLink(host, person.key, { files: [file] })
      await revokeLink(host, person.key, link)
      expect(await trial.sender.looks(`/l/${link}`)).toMatch(/no such link|link does not exist/i)
    },
  },
]

test('the table of the guide is this list', async () => {
  const guide = await Bun.file(join(import.meta.dir, '../../docs/guide/client.md')).text()
  const rows = SITUATIONS.map(({ when, both }) => `| ${when} | ${both} |\n`)
  expect(guide).toContain(`|---|---|\n${rows.join('')}\n`)
})

describeInBrowser('both do', (browser) => {
  const byPage: Way = async ({ host, proxy }, person) => {
    const visit = await openPage(browser(), proxy.url)
    const { page } = visit
    const dismissing = { [Symbol.asyncDispose]: () => visit[Symbol.asyncDispose]() }
    const signIn = async () => {
      const { cookies } = await signedIn(host, person?.username ?? '')
      await page.context().addCookies([...cookies].map(([name, value]) => ({ name, value, url: proxy.url })))
    }
    if (person !== null) await signIn()
    return {
      ...dismissing,
      async send(paths, folder) {
        if (person === null) {
          const start = await startPageIn(visit)
          await start.drop(paths)
          return
        }
        await page.goto(folder === undefined ? '/files' : `/files/${folder}`)
        await page.locator('[role="grid"], .empty-list').first().waitFor()
        await dropAt(await page.context().newCDPSession(page), { x: 600, y: 400 }, paths)
        await page.locator('.uploads-button').click()
      },
      async ended(name) {
        const { row } = uploadIn(page, name)
        const over = page.locator('.upload[data-state="done"], .upload[data-state="failed"]').and(row)
        await over.waitFor({ timeout: 40_000 })
        const isDone = (await over.getAttribute('data-state')) === 'done'
        return {
          link: isDone ? await uploadIn(page, name).link() : null,
          said: (await row.textContent()) ?? '',
        }
      },
      async waits(why) {
        await page.locator('.upload[data-state="waiting"]').getByText(why).first().waitFor()
      },
      async signInAgain() {
        await signIn()
        await uploadIn(page, 'film.mkv').press('Try again')
        await uploadIn(page, 'film.mkv').is('done')
      },
      async looks(path) {
        await page.goto(path)
        return (await page.locator('body').textContent()) ?? ''
      },
    }
  }

  const byCommand: Way = async ({ host, proxy }, person) => {
    const client = newClient()
    const log = async (key: string) => client.login(proxy.url, key)
    if (person !== null) await log(person.key)
    let words: string[] = []
    let running = Promise.resolve({ code: 0, output: '', errors: '' })
    /** To be said by its end. */
    let expected = /(?:)/
    return {
      [Symbol.asyncDispose]: async () => client[Symbol.dispose](),
      async send(paths, folder) {
        const to = folder === undefined ? [] : ['--folder', folder]
        words = ['upload', '--each', ...(person === null ? ['--guest', '--server', proxy.url] : to), ...paths]
        running = client.start(...words).outcome
      },
      async ended(name) {
        const { code, output, errors } = await running
        const said = errors.split('\n').filter((line) => line.includes(name))
        expect(errors).toMatch(expected)
        expect(code).toBe(errors.includes('error: ') ? 1 : 0)
        if (said.some((line) => line.startsWith('error: '))) return { link: null, said: said.join('\n') }
        const links = lines(output)
        expect(links).toHaveLength(1)
        return { link: links[0] ?? null, said: errors }
      },
      async waits(why) {
        await eventually('it was refused', () => proxy.requests.some(isCreation) && proxy.connections() === 0)
        expected = why
      },
      async signInAgain() {
        await log(await host.addKey(person?.username ?? ''))
        running = client.start(...words).outcome
      },
      async looks(path) {
        const { code, errors } = await client.run('download', `${host.url}${path}`)
        expect(code).toBe(1)
        return errors
      },
    }
  }

  describe.each([
    ['the page', byPage],
    ['the command line', byCommand],
  ] as const)('%s:', (_name, way) => {
    test.each(SITUATIONS.map((situation) => [situation.when, situation] as const))(
      '%s',
      async (_when, { settings, isGuest, happens }) => {
        await using host = await disposable(startHoldfast({ ...GENEROUS, ...settings }))
        await using proxy = await disposable(startFaultProxy(host.it.url))
        const { apiKey: key, username } = await host.it.addAccount()
        const person = { username, key, api: caller(host.it.url, key) }
        const place = { host: host.it, proxy: proxy.it }
        using folder = temporaryFolder(FOR_CHROMIUM)
        await using sender = await way(place, isGuest ? null : person)
        await happens({ ...place, sender, person, folder: folder.path })
      },
      120_000,
    )
  })
})

async function disposable<T extends { stop(): Promise<void> }>(starting: Promise<T>) {
  const it = await starting
  return { it, [Symbol.asyncDispose]: () => it.stop() }
}
