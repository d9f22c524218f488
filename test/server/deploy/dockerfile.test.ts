import { expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { eventually } from '../../support/eventually.ts'
import { startChild, temporaryFolder } from '../../support/processes/child.ts'
import { startProgram } from '../../support/processes/program.ts'
import { execForm, type Instruction, parseDockerfile } from './dockerfile.ts'

const REPOSITORY = join(import.meta.dir, '../../..')
const text = readFileSync(join(REPOSITORY, 'deploy/Dockerfile'), 'utf8')
const stages = parseDockerfile(text)
const last = stages.at(-1)?.instructions ?? []

test('the linter has nothing to say', () => {
  expect(validate('FROM a\nEXPOSE none\n')).not.toEqual([])
  expect(validate(text)).toEqual([])
})

test('every base is pinned to a version, and none to the newest', () => {
  expect(stages.length).toBeGreaterThan(1)
  for (const { base } of stages) expect(base).toMatch(/^[\w./-]+:[a-z0-9][\w.-]*$/)
  expect(stages.map(({ base }) => base)).not.toContain(expect.stringContaining(':latest'))
})

test('the image runs as a user by number that is not root, and its data belongs to that user', () => {
  const user = only('USER')
  expect(user).toMatch(/^[1-9]\d+:[1-9]\d+$/)
  const [uid] = user.split(':')
  expect(last.find(({ name }) => name === 'RUN')?.rest).toContain(`--uid ${uid}`)
  expect(only('VOLUME')).toBe(environment().HOLDFAST_DATA_DIR ?? '')
  // What comes after USER runs as that user; what is copied or made must stay root's.
  const after = last.slice(last.findIndex(({ name }) => name === 'USER')).map(({ name }) => name)
  expect(after).not.toContain('RUN')
  expect(after).not.toContain('COPY')
})

test('the program gets its signals itself', () => {
  expect(execForm(only('ENTRYPOINT'))).toEqual(['holdfast'])
  expect(execForm(only('CMD'))).toEqual(['serve'])
  expect(last.find(({ name }) => name === 'RUN')?.rest).toContain('exec bun --no-env-file /app/src/main.ts')
})

test('what is copied is in the repository, and the build may see it', () => {
  const [all, ...seen] = readFileSync(join(REPOSITORY, 'deploy/Dockerfile.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(all).toBe('*')
  const copied = stages.flatMap(({ instructions }) => instructions.flatMap(copiedFromHere))
  expect(copied).toContain('package-lock.json')
  for (const path of copied) {
    expect({ path, isThere: existsSync(join(REPOSITORY, path)) }).toEqual({ path, isThere: true })
    expect(seen).toContain(`!${path}`)
  }
  // And nothing more, so that a stray file neither gets in nor makes the build start anew.
  expect(new Set(seen)).toEqual(new Set(copied.map((path) => `!${path}`)))
})

test('the program runs with what the image holds of the repository, and finds its packages beside it', async () => {
  using folder = temporaryFolder()
  const app = join(folder.path, 'app')
  mkdirSync(app)
  for (const path of last.flatMap(copiedFromHere)) {
    cpSync(join(REPOSITORY, path), join(app, basename(path)), { recursive: true })
  }
  symlinkSync(join(REPOSITORY, 'node_modules'), join(app, 'node_modules'))
  // What the first stage builds.
  for (const built of ['dist', 'web/dist']) {
    cpSync(join(REPOSITORY, built), join(app, built), { recursive: true })
  }
  await using stack = new AsyncDisposableStack()
  const server = startProgram([process.execPath, 'src/main.ts', ...execForm(only('CMD'))], {
    cwd: app,
    env: { ...environment(), HOLDFAST_DATA_DIR: join(folder.path, 'data'), HOLDFAST_PORT: '0', PATH: '' },
  })
  stack.defer(async () => {
    server.kill('SIGTERM')
    await server.ended
  })
  await eventually('it listens', () => server.output().includes('"msg":"listening"'))
  expect(server.output()).toContain(
    '"make_an_account":"docker exec <container> holdfast account add <username>"',
  )
  const port = /"url":"http:\/\/[^"]*:(\d+)"/.exec(server.output())?.[1]
  const page = await fetch(`http://127.0.0.1:${port}/`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
})

test('the health check is passed by a server that lives, and by nothing else', async () => {
  const check = execForm(only('HEALTHCHECK').replace(/^CMD /, ''))
  expect(check[0]).toBe('bun')
  const checkedAt = async (port: string) => {
    const command = [process.execPath, ...check.slice(1)]
    return Bun.spawn(command, { env: { HOLDFAST_PORT: port }, stdout: 'ignore', stderr: 'ignore' }).exited
  }
  using folder = temporaryFolder()
  await using server = await startChild(folder.path)
  const { port } = new URL(server.url)
  expect(await checkedAt(port)).toBe(0)
  await server.kill()
  expect(await checkedAt(port)).toBe(1)
})

/** What the one instruction of the last stage says. */
function only(name: string): string {
  const found = last.filter((instruction) => instruction.name === name)
  expect({ name, times: found.length }).toEqual({ name, times: 1 })
  return found[0]?.rest ?? ''
}

function environment(): Record<string, string> {
  return Object.fromEntries(
    only('ENV')
      .split(/\s+/)
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
}

/** Paths in the repository; what comes from another stage is not among them. */
function copiedFromHere({ name, options, rest }: Instruction): string[] {
  return name !== 'COPY' || options.from !== undefined ? [] : rest.split(/\s+/).slice(0, -1)
}
