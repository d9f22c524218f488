/** Files of the trails: their days, their end, and what happens when they cannot be written. */
// Only in test:all: waits a second for each of many days; trails.test.ts has the lines.
// Only on a folder: is about the files of one node; trails.test.ts has what three write.
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../../src/config.ts'
import { DAY } from '../../../src/domain/clock.ts'
import { isoDay } from '../../../src/domain/days.ts'
import type { Log } from '../../../src/log.ts'
import { bearer } from '../../support/clients/public.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

/** The first and the last of what a clock of 1970 would have written: whatever is put in order is rid of it. */
const LONG_AGO = ['access-1970-01-01.log', 'security-1970-01-01.log']

interface Scene {
  readonly host: TestHoldfast
  readonly folder: string
  /** Messages of errors in the server's log. */
  readonly errors: readonly string[]
  today(): string
  files(): string[]
  text(name: string): string
  /** A request, and a key that is refused. */
  visit(): Promise<number[]>
  /** Waits until the files were put in order for the present day. */
  inOrder(): Promise<void>
}

async function withTrails(
  logs: Partial<NonNullable<Config['logs']>>,
  work: (scene: Scene) => Promise<void>,
  prepare: (folder: string) => void = () => {},
): Promise<void> {
  using temporary = temporaryFolder()
  const folder = temporary.path
  prepare(folder)
  const errors: string[] = []
  const log: Log = { debug() {}, info() {}, warn() {}, error: (_fields, message) => errors.push(message) }
  const host = await startHoldfast(
    {
      trustedProxies: ['127.0.0.1', '::1'],
      logs: { folder, accessDays: 3, isAnonymous: false, ...logs },
    },
    log,
  )
  const files = () => readdirSync(folder).sort()
  try {
    await work({
      host,
      folder,
      errors,
      files,
      today: () => isoDay(host.clock.now(), 'UTC'),
      text: (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : ''),
      visit: async () => {
        const answers = [
          await fetch(`${host.url}/health`),
          await fetch(`${host.url}/api/v1/files`, { headers: bearer('hf_wrong') }),
        ]
        return answers.map(({ status }) => status)
      },
      inOrder: () =>
        eventually('files are in order', () => LONG_AGO.every((each) => !files().includes(each))),
    })
  } finally {
    await host.stop()
  }
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

describe('the file of a day', () => {
  test(
    'is set aside after the day and deleted after its days, although nobody sends a request',
    () =>
      withTrails({}, async ({ host, folder, files, today, text, visit, inOrder }) => {
        await visit()
        await eventually('both are written', () => text('access.log') !== '' && text('security.log') !== '')
        const day = today()
        const leavesAfter = async (days: number, left: readonly string[]) => {
          for (const each of LONG_AGO) writeFileSync(join(folder, each), '')
          host.clock.advance(days * DAY)
          await inOrder()
          await eventually(`${left.join()} are left`, () => files().join() === left.join())
        }
        await leavesAfter(1, [`access-${day}.log`, `security-${day}.log`])
        await leavesAfter(2, [`access-${day}.log`, `security-${day}.log`])
        await leavesAfter(1, [`security-${day}.log`])
        await leavesAfter(3, [`security-${day}.log`])
        await leavesAfter(1, [])
      }),
    30_000,
  )

  test('of an access log that is switched off goes too, at once or with its day, and there is no new one', () => {
    const present = `{"time":"${new Date().toISOString()}","status":200}\n`
    return withTrails(
      { accessDays: 0 },
      async ({ host, folder, files, visit, inOrder, text }) => {
        await inOrder()
        expect(files()).toEqual(['access.log'])
        await visit()
        await eventually('the key is noted', () => text('security.log') !== '')
        expect(text('access.log')).toBe(present)
        for (const each of LONG_AGO) writeFileSync(join(folder, each), '')
        host.clock.advance(DAY)
        await inOrder()
        await eventually('none is left', () => !files().some((file) => file.startsWith('access')))
      },
      (folder) => {
        writeFileSync(join(folder, 'access.log'), present)
        for (const each of [...LONG_AGO, `access-${isoDay(Date.now() - DAY, 'UTC')}.log`]) {
          writeFileSync(join(folder, each), '')
        }
      },
    )
  }, 30_000)

  test('goes on with a line of its own after one that a killed process left half', () => {
    const torn = `{"time":"${new Date().toISOString()}","addr`
    return withTrails(
      {},
      async ({ text, visit }) => {
        await visit()
        await eventually('more is written', () => linesOf(text('access.log')).length > 1)
        const [first, ...others] = linesOf(text('access.log'))
        expect(first).toBe(torn)
        for (const line of others) expect(JSON.parse(line)).toBeObject()
      },
      (folder) => writeFileSync(join(folder, 'access.log'), torn),
    )
  })

  test(
    'goes on after a restart in the middle of it, and is of its lines, whatever time the file has',
    () =>
      withTrails({}, async ({ host, folder, files, today, text, visit }) => {
        await visit()
        await eventually('it is written', () => text('security.log') !== '')
        const before = linesOf(text('access.log'))
        const path = join(folder, 'access.log')
        await host.restart(() => utimesSync(path, new Date(0), new Date(0)))
        await visit()
        await eventually('more is written', () => linesOf(text('access.log')).length > before.length)
        expect(linesOf(text('access.log')).slice(0, before.length)).toEqual(before)
        expect(files()).toEqual(['access.log', 'security.log'])
        const day = today()
        await host.restart(() => {
          host.clock.advance(DAY)
          const now = new Date(host.clock.now())
          utimesSync(path, now, now)
        })
        await eventually('it is set aside', () => files().includes(`access-${day}.log`))
        expect(linesOf(text(`access-${day}.log`)).slice(0, before.length)).toEqual(before)
      }),
    30_000,
  )
})

test(
  'a folder that cannot be written stops no request, and the logs go on when it is there again',
  () =>
    withTrails({}, async ({ folder, errors, text, visit }) => {
      expect(await visit()).toEqual([200, 401])
      await eventually('it is written', () => text('security.log') !== '')
      rmSync(folder, { recursive: true })
      writeFileSync(folder, 'no folder')
      expect(await visit()).toEqual([200, 401])
      await eventually('the server says so', () => errors.length === 2)
      expect(await visit()).toEqual([200, 401])
      expect([...errors].sort()).toEqual(['the access log failed', 'the security log failed'])
      rmSync(folder)
      mkdirSync(folder)
      expect(await visit()).toEqual([200, 401])
      await eventually('the logs go on', () => text('access.log') !== '' && text('security.log') !== '')
      for (const line of linesOf(text('access.log'))) expect(JSON.parse(line)).toBeObject()
    }),
  30_000,
)

test('an anonymous access log has networks of either kind of address, and neither account nor agent', () =>
  withTrails({ isAnonymous: true }, async ({ host, text }) => {
    const { apiKey } = await host.addAccount()
    const networks: readonly [string, string][] = [
      ['203.0.113.77', '203.0.113.0'],
      ['::ffff:198.51.100.77', '198.51.100.0'],
      ['2001:db8:1:2:3:4:5:77', '2001:db8:1::'],
      ['2001:db8::77', '2001:db8::'],
      ['2001::77', '2001::'],
    ]
    for (const [address] of networks) {
      const headers = { ...bearer(apiKey), 'user-agent': 'telling', 'x-forwarded-for': address }
      await fetch(`${host.url}/api/v1/files`, { headers })
    }
    await eventually('all are noted', () => linesOf(text('access.log')).length >= networks.length)
    const lines: unknown[] = linesOf(text('access.log')).map((line) => JSON.parse(line))
    expect(lines).toEqual(
      networks.map(([, address]) => expect.objectContaining({ address, account: null, agent: null })),
    )
    expect(text('access.log')).not.toMatch(/[.:]77"|telling/)
  }))
