import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newClient } from '../../support/cli/client.ts'
import { GENEROUS } from '../../support/clients/public.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

let key: string
const host = await hostOfFile(GENEROUS)
beforeAll(async () => {
  key = (await host.addAccount('ann')).apiKey
})

describe('holdfast login', () => {
  test('keeps the key for its owner alone, and later commands use it', async () => {
    using client = newClient()
    const login = await client.runWith({ env: { HOLDFAST_API_KEY: key } }, 'login', host.url)
    expect(login).toEqual({ code: 0, output: `Logged in to ${host.url} as ann.\n`, errors: '' })
    const kept = join(client.home, 'config/holdfast')
    expect(statSync(kept).mode & 0o777).toBe(0o700)
    expect(statSync(join(kept, 'logins.json')).mode & 0o777).toBe(0o600)
    const info = await client.run('info', '--json')
    expect(JSON.parse(info.output)).toMatchObject({ kind: 'account', server: host.url, username: 'ann' })
  })

  test('reads the key from standard input', async () => {
    using client = newClient()
    const stdin = new TextEncoder().encode(`${key}\n`)
    expect((await client.runWith({ stdin }, 'login', host.url, '--key-stdin')).code).toBe(0)
    expect((await client.run('info')).output).toContain('ann')
  })

  test('a key that the server does not know is not kept', async () => {
    using client = newClient()
    const env = { HOLDFAST_API_KEY: `hf_${'x'.repeat(43)}` }
    const { code, errors } = await client.runWith({ env }, 'login', host.url)
    expect(code).toBe(1)
    expect(errors).toBe(`error: ${host.url} does not know this API key.\n`)
    expect(existsSync(join(client.home, 'config'))).toBe(false)
  })

  test('without a key and without a terminal it says where to put one', async () => {
    using client = newClient()
    const { code, errors } = await client.run('login', host.url)
    expect(code).toBe(1)
    expect(errors).toContain('HOLDFAST_API_KEY')
  })

  test('keys of several servers stay apart', async () => {
    using client = newClient()
    await client.login(host.url, key)
    const other = host.url.replace('localhost', '127.0.0.1')
    const bob = await host.addAccount('bob')
    await client.login(other, bob.apiKey)
    expect((await client.run('info')).output).toContain('bob')
    expect((await client.run('info', '--server', host.url)).output).toContain('ann')
    const env = { HOLDFAST_SERVER: host.url }
    expect((await client.runWith({ env }, 'info')).output).toContain('ann')
  })
})

test('a command without a login says how to log in', async () => {
  using client = newClient()
  const nowhere = await client.run('ls')
  expect(nowhere).toMatchObject({ code: 1, output: '' })
  expect(nowhere.errors).toContain('holdfast login <server>')
  const stranger = await client.run('ls', '--server', host.url)
  expect(stranger).toMatchObject({ code: 1, output: '' })
  expect(stranger.errors).toContain(`holdfast login ${host.url}`)
})

test('a file of logins that is damaged is named', async () => {
  using client = newClient()
  await client.login(host.url, key)
  const path = join(client.home, 'config/holdfast/logins.json')
  writeFileSync(path, '{')
  const { code, errors } = await client.run('ls')
  expect(code).toBe(1)
  expect(errors).toContain(path)
})

test('an .env in the folder where it runs is not its user speaking', async () => {
  using client = newClient()
  await client.login(host.url, key)
  writeFileSync(join(client.folder, '.env'), 'HOLDFAST_SERVER=http://127.0.0.1:1\n')
  const { code, output } = await client.launch('info')
  expect(code).toBe(0)
  expect(output).toContain(host.url)
})

test('the server does not mind the variables of the client', async () => {
  using client = newClient()
  const env = { HOLDFAST_SERVER: host.url, HOLDFAST_API_KEY: key, HOLDFAST_PASSWORD: 'sesame' }
  expect(await client.runWith({ env }, 'config')).toMatchObject({ code: 0, errors: '' })
})
