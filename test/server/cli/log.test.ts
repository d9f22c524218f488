import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { outcome } from '../../support/cli/command.ts'
import { logLines, temporaryFolder } from '../../support/processes/child.ts'

const LOG = JSON.stringify(join(import.meta.dir, '../../../src/log.ts'))

/** What a program prints that logs in this way. */
async function output(body: string, { level = 'info', terminal = false } = {}): Promise<string> {
  using folder = temporaryFolder()
  const program = `import { createLog } from ${LOG}; const log = createLog('${level}', { terminal: ${terminal} }); ${body}`
  return (await outcome([process.execPath, '-e', program], folder.path, {})).output
}

test('a line is one JSON object with level, time, fields and message', async () => {
  const lines = logLines(await output(`log.warn({ status: 507, route: '/d/{slug}' }, 'request')`))
  expect(lines).toEqual([
    {
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      status: 507,
      route: '/d/{slug}',
      msg: 'request',
    },
  ])
})

test('an error is written with its message, its stack and its cause', async () => {
  const [line] = logLines(
    await output(`log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed')`),
  )
  expect(JSON.stringify(line)).toContain('outer')
  expect(JSON.stringify(line)).toContain('inner')
  expect(JSON.stringify(line)).toContain('stack')
})

test('an error that holds itself is written', async () => {
  const [line] = logLines(
    await output(`const e = new Error('round'); e.self = e; log.error({ err: e, id: 7 }, 'failed')`),
  )
  expect(line).toMatchObject({ msg: 'failed', id: 7 })
  expect(JSON.stringify(line)).toContain('round')
})

test('lines under the level are left out', async () => {
  const all = `log.debug({}, 'a'); log.info({}, 'b'); log.warn({}, 'c'); log.error({}, 'd')`
  const messages = async (level: string) => logLines(await output(all, { level })).map(({ msg }) => msg)
  expect(await messages('debug')).toEqual(['a', 'b', 'c', 'd'])
  expect(await messages('warn')).toEqual(['c', 'd'])
  expect(await messages('silent')).toEqual([])
})

test.each([
  ['the end of the program', ''],
  ['an exit', 'process.exit(3)'],
  ['an exception', `throw new Error('x')`],
])('no line is lost at %s', async (_, end) => {
  const many = `for (let i = 0; i < 5000; i++) log.info({ i }, 'line');`
  const lines = logLines(await output(many + end))
  expect(lines.map(({ i }) => i)).toEqual(Array.from({ length: 5000 }, (_, i) => i))
})

test('a terminal gets readable lines, and none is lost at an exit', async () => {
  const many = `for (let i = 0; i < 500; i++) log.info({ i }, 'request'); process.exit(0)`
  const lines = (await output(many, { terminal: true })).trim().split('\n')
  expect(lines).toHaveLength(500)
  expect(lines[0]).toContain('INFO')
  expect(lines[0]).toContain('request')
  expect(logLines(lines.join('\n'))).toEqual([])
})

test('a reader that goes away does not end the program', async () => {
  using folder = temporaryFolder()
  const program = `import { createLog } from ${LOG}
    const log = createLog('info', { terminal: false })
    for (let i = 0; i < 5; i++) { log.info({ text: 'x'.repeat(9000) }, 'line'); await Bun.sleep(50) }
    console.error('alive')`
  const shell = `"$1" -e "$2" | true`
  const { errors } = await outcome(['sh', '-c', shell, 'sh', process.execPath, program], folder.path, {})
  expect(errors).toBe('alive\n')
})

test('a reader that goes away does not keep the program from its end', async () => {
  using folder = temporaryFolder()
  const program = `import { createLog } from ${LOG}
    const log = createLog('info', { terminal: false })
    log.info({}, 'one')
    await Bun.sleep(300)
    log.info({}, 'two')
    process.exit(7)`
  const shell = `{ "$1" -e "$2"; echo "$?" >&2; } | true`
  const { errors } = await outcome(['sh', '-c', shell, 'sh', process.execPath, program], folder.path, {})
  expect(errors).toBe('7\n')
})

test('a reader that is slow gets every line, also those of the last moment', async () => {
  using folder = temporaryFolder()
  const program = `import { createLog } from ${LOG}
    const log = createLog('info', { terminal: false })
    for (let i = 0; i < 3000; i++) log.info({ i, text: 'ä'.repeat(100) }, 'line')
    process.exit(0)`
  const shell = `"$1" -e "$2" | { sleep 0.5; cat; }`
  const { output } = await outcome(['sh', '-c', shell, 'sh', process.execPath, program], folder.path, {})
  expect(logLines(output).map(({ i }) => i)).toEqual(Array.from({ length: 3000 }, (_, i) => i))
})
