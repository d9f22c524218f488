/** The real process whose clock is set wrong, by libfaketime, while it runs and while it stands still. */
// Only in test:all: waits for jobs in real time; test/cluster/files/expiry.test.ts has a clock that is set.
import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { caller, readBack, sha256 } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import { addAccount, type ChildServer, startChild, temporaryFolder } from '../support/processes/child.ts'
import { describeWith } from '../support/processes/tools.ts'

const LIBRARY = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`
/** The job that takes unused files out of all lists. */
const HIDES = /^holdfast_job_runs_total\{task="hide unused files",outcome="done"[^}]*\} (\d+)$/m
const detail = z.object({ data: z.object({ created_at: z.string() }) })
const CONTENT = new TextEncoder().encode('what the clock may not take')

/** A data folder with one file, and servers on it that take their time from a file. */
async function timedFolder() {
  const folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const time = join(folder.path, 'time')
  /** In the form of FAKETIME: `+46d`, or `@2038-01-19 03:14:00`. */
  const set = (text: string) => writeFileSync(time, `${text}\n`)
  set('+0')
  const { apiKey } = await addAccount(data, 'owner')
  const start = () =>
    startChild(
      data,
      { METRICS: 'on' },
      {
        environment: {
          LD_PRELOAD: LIBRARY,
          FAKETIME_TIMESTAMP_FILE: time,
          // Seconds; read at every look at the clock, it would cost more than all else that the server does.
          FAKETIME_CACHE_DURATION: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          TZ: 'UTC',
        },
      },
    )
  return { set, start, apiKey, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

/** Waits until files have been looked at, whose days may be over, since now. */
async function jobsHaveRun({ url }: ChildServer): Promise<void> {
  const runs = async () => Number(HIDES.exec(await (await fetch(`${url}/metrics`)).text())?.[1] ?? 0)
  const before = await runs()
  const haveRun = async () => {
    await Bun.sleep(1000)
    return (await runs()) > before + 1
  }
  await eventually('files were looked at twice', haveRun, 90)
}

async function wholeAt({ url }: ChildServer, slug: string): Promise<void> {
  expect(await readBack(url, slug)).toEqual({ size: CONTENT.length, sha256: sha256(CONTENT) })
}

describeWith(['faketime'], 'a clock of the real process', () => {
  test('is that of a library which is where it is looked for', () => {
    expect(existsSync(LIBRARY)).toBe(true)
  })

  test.concurrent.each(['+46d', '-46d'])(
    'that is wrong by %s for a while hides no file',
    async (wrong) => {
      using folder = await timedFolder()
      await using server = await folder.start()
      const api = caller(server.url, folder.apiKey)
      const { slug } = await api.upload(CONTENT, 'before.txt')
      folder.set(wrong)
      await Bun.sleep(1500)
      const meanwhile = await api.upload(CONTENT, 'meanwhile.txt')
      await jobsHaveRun(server)
      expect((await api.account()).files_count).toBe(2)
      await wholeAt(server, slug)
      folder.set('+0')
      await jobsHaveRun(server)
      expect((await api.files()).map(({ name }) => name).sort()).toEqual(['before.txt', 'meanwhile.txt'])
      await wholeAt(server, slug)
      await wholeAt(server, meanwhile.slug)
      await server.stop()
    },
    400_000,
  )

  test.concurrent('that is wrong at a start, and right at the next one, hides no file', async () => {
    using folder = await timedFolder()
    let slug = ''
    for (const time of ['+0', '+46d', '+0', '-46d', '+0']) {
      folder.set(time)
      await using server = await folder.start()
      const api = caller(server.url, folder.apiKey)
      if (slug === '') ({ slug } = await api.upload(CONTENT, 'kept.txt'))
      expect((await api.files()).map(({ name }) => name)).toEqual(['kept.txt'])
      await wholeAt(server, slug)
      await server.stop()
    }
  }, 400_000)

  test.concurrent('passes the last second of 32 bits, and the end of summer time', async () => {
    using folder = await timedFolder()
    for (const [time, year] of [
      ['@2037-10-25 00:59:57', '2037'],
      ['@2038-01-19 03:14:05', '2038'],
    ] as const) {
      folder.set(time)
      await using server = await folder.start()
      const api = caller(server.url, folder.apiKey)
      const times: string[] = []
      for (let at = 0; at < 6; at++) {
        const { slug } = await api.upload(CONTENT, `${year}-${at}.txt`)
        times.push(detail.parse(await api.get(`/api/v1/file/${slug}`)).data.created_at)
        await wholeAt(server, slug)
        await Bun.sleep(1000)
      }
      expect(times).toEqual(times.toSorted())
      expect(times.every((each) => each.startsWith(year))).toBe(true)
      await server.stop()
    }
  }, 400_000)
})
