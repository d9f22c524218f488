import { expect, test } from 'bun:test'
import { type Launch, ownCommand } from '../../src/cli/own-command.ts'

const CLONE = '/home/ann/holdfast'
const AT_A_TERMINAL: Launch = {
  launchedAs: `${CLONE}/bin/holdfast.js`,
  invocationId: undefined,
  terminal: true,
  folder: CLONE,
}
const AS_A_SERVICE: Launch = {
  launchedAs: '/opt/holdfast/bin/holdfast.js',
  invocationId: '0123456789abcdef0123456789abcdef',
  terminal: false,
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
    "in a clone, in a desktop's shell, which systemd started",
    { ...AT_A_TERMINAL, invocationId: AS_A_SERVICE.invocationId },
    'npx holdfast',
  ],
  [
    'in the image',
    { ...AT_A_TERMINAL, launchedAs: 'image', terminal: false, folder: '/app' },
    'docker exec <container> holdfast',
  ],
  [
    'in the image with a terminal, on a host where systemd started the shell',
    { ...AS_A_SERVICE, launchedAs: 'image', terminal: true, folder: '/app' },
    'docker exec <container> holdfast',
  ],
  ['without a launcher', { ...AT_A_TERMINAL, launchedAs: undefined }, 'holdfast'],
])('a server that was started %s names the command for the next step', (_, launch, command) => {
  expect(ownCommand(launch)).toBe(command)
})
