#!/usr/bin/env -S node --
// Behind the --, since Node.js 20 takes --env-file for its own wherever it stands before it, and reads the file in its own way.
// Starts the program with the Bun that is installed beside it, whatever else is called bun on this machine.
import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Where npm runs no install scripts, the bun package holds a placeholder of a few bytes instead of the program.
const SMALLEST_PROGRAM = 1024 * 1024

const own = process.execArgv.find((word) => word.startsWith('--env-file'))
if (own !== undefined) {
  console.error(
    'error: Node.js has taken --env-file for itself, and reads the values in another way (it cuts them at a #). Write it behind the program: holdfast --env-file <path> <command>, or node -- bin/holdfast.js --env-file <path> <command>.',
  )
  process.exit(2)
}

const bun = findBun()
if (bun === null) {
  console.error('error: the bun package is incomplete; install holdfast again with "npm install".')
  process.exit(1)
}

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
// Every download from an S3 store is a request of ours, and Bun sends 256 at a time unless it is told otherwise.
const env = {
  ...process.env,
  BUN_CONFIG_MAX_HTTP_REQUESTS: process.env.BUN_CONFIG_MAX_HTTP_REQUESTS ?? '65000',
  // So that the program can say how it is called.
  LAUNCHED_AS: process.argv[1],
  // A pipe that ends with this process, whatever ends it: a server that nobody can stop any more stops by itself.
  LAUNCHER_PIPE: '3',
}
// The program reads .env by itself, where a $ in a password is a $.
const child = spawn(bun, ['--no-env-file', main, ...process.argv.slice(2)], {
  env,
  stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => {
  console.error(
    `error: ${bun} cannot be started (${error.message}); install holdfast again with "npm install".`,
  )
  process.exit(1)
})
child.on('exit', (code, signal) => {
  process.exit(signal === null ? code : 128 + constants.signals[signal])
})

/** The path of the pinned Bun, or null when npm has left none. */
function findBun() {
  const here = createRequire(import.meta.url)
  try {
    const manifest = here.resolve('bun/package.json')
    const beside = createRequire(manifest)
    const packages = Object.keys(JSON.parse(readFileSync(manifest, 'utf8')).optionalDependencies ?? {})
    const programs = packages.flatMap((name) => {
      const folder = resolveFolder(beside, name)
      return folder === null ? [] : [join(folder, 'bin/bun'), join(folder, 'bin/bun.exe')]
    })
    return [join(dirname(manifest), 'bin/bun.exe'), ...programs].find(isProgram) ?? null
  } catch {
    return null
  }
}

function resolveFolder(beside, name) {
  try {
    return dirname(beside.resolve(`${name}/package.json`))
  } catch {
    return null
  }
}

function isProgram(path) {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= SMALLEST_PROGRAM
}
