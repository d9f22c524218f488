/** An existing data folder keeps its mode: what others on the machine could read is closed to them. */
import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAIN, serving } from '../../support/cli/command.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

const SERVER = [process.execPath, '--no-env-file', MAIN]

/** Everything in the folder that has any of these rights, with its mode. */
function having(rights: number, folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return ['', ...names].flatMap((name) => {
    const mode = statSync(join(folder, name)).mode & 0o777
    return (mode & rights) === 0 ? [] : [`${name} ${mode.toString(8)}`]
  })
}

test('an existing data folder that others can enter, with files that they can read, is closed to them', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  mkdirSync(data)
  const upload = async (url: string) => {
    const form = new FormData()
    form.set('file', new File(['content'], 'a.txt'))
    expect((await fetch(`${url}/api/v1/upload`, { method: 'POST', body: form })).status).toBe(200)
    return 'SIGTERM' as const
  }
  const before = process.umask(0o022)
  try {
    await serving(SERVER, folder.path, upload)
    for (const name of ['holdfast.sqlite', 'server.lock', 'blobs']) chmodSync(join(data, name), 0o755)
    chmodSync(data, 0o755)
    const { lines } = await serving(SERVER, folder.path, async (url) => {
      expect(having(0o077, data)).toEqual([])
      return upload(url)
    })
    expect(having(0o077, data)).toEqual([])
    const told = lines.filter(({ msg }) => msg === 'others on this machine could reach this; now they cannot')
    expect(told.map(({ path, mode }) => [path, mode])).toContainEqual([data, '755'])
    expect(told.map(({ path }) => path)).toContain(join(data, 'holdfast.sqlite'))
  } finally {
    process.umask(before)
  }
})

test('HOLDFAST_GROUP_READ lets the group of an existing data folder read all that is made, and nobody else', async () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, '.env'), 'HOLDFAST_GROUP_READ=on\n')
  const data = join(folder.path, 'data')
  mkdirSync(data)
  chmodSync(data, 0o775)
  await serving(SERVER, folder.path, async () => {
    expect(existsSync(join(data, 'holdfast.sqlite-wal'))).toBe(true)
    expect(having(0o027, data)).toEqual([])
    expect(having(0o040, data)).toHaveLength(readdirSync(data, { recursive: true }).length + 1)
    return 'SIGTERM'
  })
})
