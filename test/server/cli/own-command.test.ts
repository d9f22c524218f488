import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { isService, type Launch, ownCommand, thisProcess } from '../../../src/cli/start-failures.ts'

const CLONE = '/home/ann/holdfast'
const AT_A_TERMINAL: Launch = {
  launchedAs: `${CLONE}/bin/holdfast.js`,
  isService: false,
  folder: CLONE,
}
const AS_A_SERVICE: Launch = {
  launchedAs: '/opt/holdfast/bin/holdfast.js',
  isService: true,
  folder: '/var/lib/holdfast',
}

test.each<[string, Launch, string]>([
  ['in a clone', AT_A_TERMINAL, 'npx holdfast'],
  [
    'by npx',
    { ...AT_A_TERMINAL, launchedAs: '/srv/node_modules/.bin/holdfast', folder: '/srv' },
    'npx holdfast',
  ],
  [
    'installed globally',
    { ...AT_A_TERMINAL, launchedAs: '/usr/local/bin/holdfast', folder: '/srv' },
    'holdfast',
  ],
  ['from another folder', { ...AT_A_TERMINAL, folder: '/srv' }, 'node /home/ann/holdfast/bin/holdfast.js'],
  [
    'from another folder, under a name that a shell would take apart',
    { ...AT_A_TERMINAL, launchedAs: "/home/ann's $x/bin/holdfast.js", folder: '/srv' },
    "node '/home/ann'\\''s $x/bin/holdfast.js'",
  ],
  ['as a service', AS_A_SERVICE, 'sudo holdfast'],
  [
    'as a service of a global installation',
    { ...AS_A_SERVICE, launchedAs: '/usr/bin/holdfast' },
    'sudo holdfast',
  ],
  [
    'in the image',
    { ...AT_A_TERMINAL, launchedAs: 'image', folder: '/app' },
    'docker exec <container> holdfast',
  ],
  [
    'in the image, by a service',
    { ...AS_A_SERVICE, launchedAs: 'image', folder: '/app' },
    'docker exec <container> holdfast',
  ],
  ['without a launcher', { ...AT_A_TERMINAL, launchedAs: undefined }, 'holdfast'],
])('a server that was started %s names the command for the next step', (_, launch, command) => {
  expect(ownCommand(launch)).toBe(command)
})

const INVOCATION_ID = '0123456789abcdef0123456789abcdef'
const process = { pids: [700, 699], streams: ['9:12345', '9:54321'] }

test.each<[string, Record<string, string>, boolean]>([
  ['without systemd', {}, false],
  ['by systemd, as the main process', { INVOCATION_ID, SYSTEMD_EXEC_PID: '700' }, true],
  ['by systemd, through the launcher', { INVOCATION_ID, SYSTEMD_EXEC_PID: '699' }, true],
  ['by an older systemd, with output to the journal', { INVOCATION_ID, JOURNAL_STREAM: '9:12345' }, true],
  ['by an older systemd, with errors to the journal', { INVOCATION_ID, JOURNAL_STREAM: '9:54321' }, true],
  [
    "in a desktop's session, whose output is elsewhere",
    { INVOCATION_ID, SYSTEMD_EXEC_PID: '41', JOURNAL_STREAM: '9:1' },
    false,
  ],
  [
    "in a desktop's session, into its journal",
    { INVOCATION_ID, SYSTEMD_EXEC_PID: '41', JOURNAL_STREAM: '9:12345' },
    false,
  ],
  ["in an older desktop's session", { INVOCATION_ID, JOURNAL_STREAM: '9:1' }, false],
  ['with nothing but an inherited id, as under npm in a pipe', { INVOCATION_ID }, false],
])('%s, it is told whether this is a service', (_, environment, expected) => {
  expect(isService({ ...process, environment })).toBe(expected)
})

test('the streams of this process are named as systemd names them', () => {
  const program = `
    import { thisProcess } from '${import.meta.dir}/../../../src/cli/start-failures.ts'
    console.log(JSON.stringify(thisProcess({}).streams))`
  const shell = 'stat -L -c %d:%i /proc/self/fd/1; exec "$0" -e "$1"'
  const { stdout } = spawnSync('sh', ['-c', shell, globalThis.process.execPath, program], {
    encoding: 'utf8',
  })
  const [own = '', streams = ''] = stdout.split('\n')
  expect(JSON.parse(streams)).toContain(own)
  expect(thisProcess({}).pids).toContain(globalThis.process.pid)
})
