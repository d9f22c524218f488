import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdfast, MAIN, onlyThese, serving } from '../../support/cli/command.ts'
import { eventually } from '../../support/eventually.ts'
import {
  addAccount,
  type Child,
  launchChild,
  logLines,
  startChild,
  temporaryFolder,
} from '../../support/processes/child.ts'

describe('holdfast serve', () => {
  test('says where it listens, where it keeps its data and how to make an account', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    await using server = await startChild(dataDir)
    const line = logLines(server.output()).find(({ msg }) => msg === 'listening')
    expect(line).toMatchObject({ level: 'info', url: server.url, data: dataDir })
    expect(JSON.stringify(line)).toContain('holdfast account add')
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
  })

  test('says it in sentences on a terminal, with the link that makes the first administrator', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    let shown = ''
    const decoder = new TextDecoder()
    const child = Bun.spawn([process.execPath, '--no-env-file', MAIN, 'serve'], {
      cwd: folder.path,
      env: onlyThese({
        TERM: 'xterm-256color',
        HOLDFAST_HOST: '127.0.0.1',
        HOLDFAST_PORT: '0',
        HOLDFAST_DATA_DIR: dataDir,
      }),
      terminal: {
        // Wide enough for the name of the folder.
        cols: 300,
        rows: 30,
        data(_terminal, data) {
          shown += decoder.decode(data, { stream: true })
        },
      },
    })
    try {
      await eventually('it says how to stop it', () => shown.includes('Ctrl+C'), 60)
      const url = /listens at (http:\S+)/.exec(shown)?.[1] ?? ''
      expect(shown).toContain(`Data folder        ${dataDir}`)
      expect(shown).toContain('holdfast account add')
      const link = /First administrator (\S+)/.exec(shown)?.[1] ?? ''
      expect(link).toStartWith(`${url}/welcome/`)
      expect((await fetch(link)).status).toBe(200)
      await eventually('the request is shown', () => shown.includes('/welcome/{token}'))
      expect(shown).not.toContain('"msg"')
      child.terminal?.write('\u0003')
      expect(await child.exited).toBe(0)
      expect(shown).toContain('stopped')
    } finally {
      child.kill('SIGKILL')
      await child.exited
      child.terminal?.close()
    }
  })

  test('reads the .env file in the folder where it is started', async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, '.env'), 'HOLDFAST_RATE_LIMIT=7\n')
    await serving([process.execPath, MAIN], folder.path, async (url) => {
      const { apiKey } = await addAccount(join(folder.path, 'data'), 'ann')
      const answer = await fetch(`${url}/api/v1/account`, { headers: { Authorization: `Bearer ${apiKey}` } })
      expect(answer.headers.get('RateLimit-Limit')).toBe('7')
      return 'SIGTERM'
    })
  })

  test('refuses the data folder of a running server with 1 and says why', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    await using first = await startChild(dataDir)
    await using second = launchChild(dataDir)
    expect(await startedOrEnded(second)).toEqual({ code: 1, signal: null })
    expect(second.output()).toContain(dataDir)
    expect(second.output()).not.toMatch(/^\s+at /m)
    expect((await fetch(`${first.url}/health`)).status).toBe(200)
  })

  test('takes the data folder over from a server that was killed', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    const first = await startChild(dataDir)
    await first.kill()
    await using second = await startChild(dataDir)
    expect((await fetch(`${second.url}/health`)).status).toBe(200)
  })

  test('refuses a port that is taken with 1 and says what to do', async () => {
    using folder = temporaryFolder()
    await using first = await startChild(join(folder.path, 'one'))
    await using second = launchChild(join(folder.path, 'two'), { PORT: new URL(first.url).port })
    expect(await startedOrEnded(second)).toEqual({ code: 1, signal: null })
    expect(second.output()).toContain('HOLDFAST_PORT')
    expect(second.output()).not.toMatch(/^\s+at /m)
  })

  test('refuses a data folder that is a file with 1 and says what to do', async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, 'data'), 'no folder')
    const { code, errors } = await holdfast(folder.path, ['serve'], { HOLDFAST_PORT: '0' })
    expect(code).toBe(1)
    expect(errors).toContain('HOLDFAST_DATA_DIR')
  })

  test.each([['SIGTERM'], ['SIGINT']] as const)('stops with 0 on %s', async (signal) => {
    using folder = temporaryFolder()
    await using server = await startChild(join(folder.path, 'data'))
    server.signal(signal)
    expect(await server.exited).toEqual({ code: 0, signal: null })
    expect(logLines(server.output()).at(-1)?.msg).toBe('stopped')
  })

  test('ends at once on a second, different signal while an upload still holds it', async () => {
    using folder = temporaryFolder()
    await using server = await startChild(join(folder.path, 'data'))
    const { promise: hold, resolve: release } = Promise.withResolvers<void>()
    const upload = fetch(`${server.url}/api/v1/upload`, {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      body: new ReadableStream({
        async start(controller) {
          const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'
          controller.enqueue(new TextEncoder().encode(`${head}${'x'.repeat(100_000)}`))
          await hold
          controller.close()
        },
      }),
    }).catch(() => null)
    await Bun.sleep(300)
    server.signal('SIGTERM')
    while (!server.output().includes('stopping')) await Bun.sleep(20)
    server.signal('SIGINT')
    expect(await server.exited).toEqual({ code: 130, signal: null })
    expect(logLines(server.output()).some(({ msg }) => msg === 'stopped')).toBe(false)
    release()
    await upload
  })
})

describe('commands beside a running server', () => {
  test('a new account is known to the server at once, and a disabled one is refused', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    await using server = await startChild(dataDir)
    const { apiKey } = await addAccount(dataDir, 'ann')
    const account = () =>
      fetch(`${server.url}/api/v1/account`, { headers: { Authorization: `Bearer ${apiKey}` } })
    expect((await account()).status).toBe(200)
    await holdfast(folder.path, ['account', 'disable', 'ann'])
    expect((await account()).status).toBe(403)
  })

  test('a revoked key is refused by the server at once, and the other key is not', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    await using server = await startChild(dataDir)
    const { apiKey } = await addAccount(dataDir, 'ann')
    const added = await holdfast(folder.path, ['key', 'add', 'ann', '--json'])
    const second: { id: number; api_key: string } = JSON.parse(added.output)
    await holdfast(folder.path, ['key', 'revoke', 'ann', String(second.id)])
    const status = async (key: string) =>
      (await fetch(`${server.url}/api/v1/account`, { headers: { Authorization: `Bearer ${key}` } })).status
    expect(await status(second.api_key)).toBe(401)
    expect(await status(apiKey)).toBe(200)
  })
})

/** The address when the server starts after all, so that a test need not wait for an end that never comes. */
function startedOrEnded(server: Child) {
  return server.listening.catch(() => server.exited)
}
