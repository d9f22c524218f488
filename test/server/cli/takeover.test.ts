import { expect, test } from 'bun:test'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { MAIN, serving } from '../../support/cli/command.ts'
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

const PROGRAM = [process.execPath, '--no-env-file', MAIN]

test('holdfast takeover lets a restored database remove bytes again, and says when there is nothing to do', async () => {
  using folder = temporaryFolder()
  const take = () => holdfast(folder.path, ['takeover'], { HOLDFAST_DATA_DIR: join(folder.path, 'data') })
  expect((await take()).errors).toContain('no database is in')
  const serve = () => serving(PROGRAM, folder.path, async () => 'SIGTERM')
  await serve()
  const database = join(folder.path, 'data/holdfast.sqlite')
  copyFileSync(database, join(folder.path, 'copy'))
  await serve()
  expect(await take()).toMatchObject({ code: 0, output: expect.stringContaining('there is nothing to do') })
  for (const end of ['-wal', '-shm']) rmSync(database + end, { force: true })
  copyFileSync(join(folder.path, 'copy'), database)
  const { lines } = await serve()
  expect(lines.map(({ msg }) => String(msg))).toContainEqual(expect.stringContaining('holdfast takeover'))
  expect(await take()).toMatchObject({ code: 0, output: expect.stringContaining('from now on') })
  const audit = await holdfast(folder.path, ['admin', 'audit', '--act', 'store.taken_over', '--json'], {
    HOLDFAST_DATA_DIR: join(folder.path, 'data'),
  })
  expect(JSON.parse(audit.output)).toMatchObject([{ act: 'store.taken_over', account: null }])
  expect(await take()).toMatchObject({ code: 0, output: expect.stringContaining('there is nothing to do') })
})
