import { beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newClient } from '../../support/cli/client.ts'
import { api } from '../../support/clients/api.ts'
import { GENEROUS, randomBytes } from '../../support/clients/public.ts'
import { eventually } from '../../support/eventually.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'
import { startFaultProxy } from '../../support/storage/fault-proxy.ts'

let key: string
const host = await hostOfFile(GENEROUS)
beforeAll(async () => {
  key = (await host.addAccount('ann')).apiKey
})

test('a key is asked for without being shown', async () => {
  using client = newClient()
  const terminal = client.onTerminal('login', host.url)
  await terminal.until('API key for')
  terminal.type(`${key}\n`)
  expect(await terminal.exited).toBe(0)
  expect(terminal.shown()).toContain('as ann')
  expect(terminal.shown()).not.toContain(key)
})

test('Ctrl+C at a question ends the command', async () => {
  using client = newClient()
  const terminal = client.onTerminal('login', host.url)
  await terminal.until('API key for')
  terminal.type('\u0003')
  expect(await terminal.exited).not.toBe(0)
  expect(existsSync(join(client.home, 'config'))).toBe(false)
})

test('rm asks, and takes anything but yes for no', async () => {
  using client = newClient()
  await client.login(host.url, key)
  const account = api(host, key)
  const { slug } = await account.put('x', { name: 'x.txt' })
  const no = client.onTerminal('rm', slug)
  await no.until('Delete 1 file, for good? [y/N]')
  no.type('\n')
  expect(await no.exited).toBe(1)
  expect((await account.get(`/api/v1/file/${slug}`)).status).toBe(200)
  const yes = client.onTerminal('rm', slug)
  await yes.until('[y/N]')
  yes.type('y\n')
  expect(await yes.exited).toBe(0)
  expect((await account.get(`/api/v1/file/${slug}`)).status).toBe(404)
})

test("a folder's password is asked for", async () => {
  using client = newClient()
  const account = api(host, key)
  const folder = await account.folder('locked', { password: 'sesame' })
  await account.put('content', { name: 'x.txt', folder })
  const terminal = client.onTerminal('download', `${host.url}/f/${folder}`)
  await terminal.until('Password:')
  terminal.type('sesame\n')
  expect(await terminal.exited).toBe(0)
  expect(terminal.shown()).not.toContain('sesame')
  expect(readFileSync(join(client.folder, 'locked/x.txt'), 'utf8')).toBe('content')
})

test('an upload shows a bar for each file and one for all, and prints the links', async () => {
  using client = newClient()
  const proxy = await startFaultProxy(host.url)
  try {
    await client.login(proxy.url, key)
    for (const name of ['one.bin', 'two.bin']) {
      writeFileSync(join(client.folder, name), randomBytes(6 * 1024 * 1024))
    }
    let chunks = 0
    const isLater = ({ method }: { method: string }) => method === 'PATCH' && ++chunks > 2
    proxy.inject({ kind: 'stall' }, { match: isLater, times: 2 })
    const terminal = client.onTerminal('upload', '--each', 'one.bin', 'two.bin', '--chunk-size', '1MB')
    await terminal.until('0 of 2 files')
    await eventually('both files have a bar with a speed and the time that is left', () =>
      ['one.bin', 'two.bin'].every((name) =>
        new RegExp(`${name} +█[█░]* .*MB of 6 MB, .*/s, \\d+ (s|min|h \\d+ min) left`).test(terminal.shown()),
      ),
    )
    terminal.end()
    await terminal.exited
    proxy.heal()
    const again = client.onTerminal('upload', '--each', 'one.bin', 'two.bin')
    expect(await again.exited).toBe(0)
    expect(again.shown().match(/\/d\/[A-Za-z0-9]{12}/g)).toHaveLength(2)
  } finally {
    await proxy.stop()
  }
})
