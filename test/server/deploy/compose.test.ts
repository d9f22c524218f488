import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { BlockList } from 'node:net'
import { join } from 'node:path'
import { z } from 'zod'
import { loadConfig } from '../../../src/config.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { readCompose } from './compose-file.ts'

const DEPLOY = join(import.meta.dir, '../../../deploy')
const PUBLIC_URL = 'https://files.example.org'

const dependencies = z.record(z.string(), z.object({ condition: z.string() }))
const attached = z.record(z.string(), z.object({ ipv4_address: z.string().optional() }))
const service = z.object({
  image: z.string(),
  build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: dependencies.default({}),
  networks: z.union([attached, z.array(z.string()).transform(withoutAddresses)]),
  volumes: z.array(z.string()).default([]),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  restart: z.string(),
  stop_grace_period: z.string().optional(),
  ports: z.array(z.string()).default([]),
})
const composeFile = z.object({
  services: z.record(z.string(), service),
  networks: z.record(
    z.string(),
    z.object({ ipam: z.object({ config: z.array(z.object({ subnet: z.string() })) }).optional() }),
  ),
  volumes: z.record(z.string(), z.object({})),
})

const text = readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8')

test('the program takes the settings that the compose file gives its nodes', () => {
  const compose = composed(madeEnvironment())
  const nodes = nodesOf(compose)
  expect(nodes).toHaveLength(3)
  for (const { environment } of nodes) {
    // It refuses variables that it does not know.
    const config = loadConfig(environment)
    expect(config.publicUrl).toBe(PUBLIC_URL)
    expect(config.databaseUrl).toStartWith('postgres://')
  }
  // Nodes of one installation that disagree would give different answers by chance.
  expect(new Set(nodes.map(({ environment }) => JSON.stringify(environment))).size).toBe(1)
})

test('without the passwords that make-env.sh makes nothing starts', () => {
  const made = madeEnvironment()
  expect(() => composed({})).toThrow('run make-env.sh first')
  for (const variable of Object.keys(made)) {
    expect(() => composed({ ...made, [variable]: '' })).toThrow(variable)
  }
})

test('no password stands in the compose file', () => {
  for (const [line, value] of text.matchAll(/^ +(\w*(?:PASSWORD|SECRET|KEY)\w*): (.*)$/gm)) {
    expect(line).toContain('${')
    expect(value).not.toContain(':-')
  }
  const passwords = Object.values(madeEnvironment()).filter((value) => value !== PUBLIC_URL)
  const again = Object.values(madeEnvironment())
  expect(passwords.length).toBeGreaterThan(3)
  for (const password of passwords) {
    expect(password.length).toBeGreaterThanOrEqual(24)
    expect(again).not.toContain(password)
  }
})

test('make-env.sh writes a file for its owner alone, and never over one that is there', () => {
  using folder = deployFolder()
  expect(makeEnvironment(folder.path).exitCode).toBe(0)
  const file = join(folder.path, '.env')
  const first = readFileSync(file, 'utf8')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(makeEnvironment(folder.path)).toMatchObject({ exitCode: 1 })
  expect(readFileSync(file, 'utf8')).toBe(first)
})

test('nginx passes requests on to the addresses of the nodes, and the nodes trust its address', () => {
  const compose = composed(madeEnvironment())
  const upstream = readFileSync(join(DEPLOY, 'nginx/three-nodes.conf'), 'utf8')
  const servers = [...upstream.matchAll(/^ *server ([\d.]+):3000;$/gm)].map(([, address]) => address)
  const nodes = nodesOf(compose)
  expect(servers).toEqual(nodes.map((node) => node.networks.web?.ipv4_address))

  const proxy = compose.services.nginx?.networks.web?.ipv4_address ?? ''
  for (const { environment } of nodes) expect(environment.HOLDFAST_TRUSTED_PROXIES).toBe(proxy)

  const [address = '', bits] = compose.networks.web?.ipam?.config[0]?.subnet.split('/') ?? []
  const subnet = new BlockList()
  subnet.addSubnet(address, Number(bits))
  for (const fixed of [proxy, ...servers]) expect(subnet.check(fixed ?? '')).toBe(true)
})

test('every part is healthy before another one that needs it starts, and comes back when it ends', () => {
  const { services } = composed(madeEnvironment())
  const ownImage = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8')
  for (const [name, part] of Object.entries(services)) {
    expect(part.restart).toBe('unless-stopped')
    if (part.build === undefined)
      expect({ name, check: part.healthcheck?.test[0] }).toEqual({ name, check: 'CMD' })
    else expect(ownImage).toMatch(/^HEALTHCHECK /m)
    for (const [needed, { condition }] of Object.entries(part.depends_on)) {
      expect(condition).toBe('service_healthy')
      const networks = Object.keys(services[needed]?.networks ?? {})
      expect(networks.some((network) => network in part.networks)).toBe(true)
    }
  }
  const needs = (name: string) => Object.keys(services[name]?.depends_on ?? {}).sort()
  expect(needs('nginx')).toEqual(['holdfast-1', 'holdfast-2', 'holdfast-3'])
  for (const node of needs('nginx')) expect(needs(node)).toEqual(['postgres', 's3'])
})

test('nodes get the time that they need to end uploads', () => {
  for (const node of nodesOf(composed(madeEnvironment()))) {
    expect(Number(/^(\d+)s$/.exec(node.stop_grace_period ?? '')?.[1])).toBeGreaterThan(35)
  }
})

test('only nginx is reached from outside, and what the compose file speaks of is there', () => {
  const compose = composed(madeEnvironment())
  for (const [name, part] of Object.entries(compose.services)) {
    expect({ name, ports: part.ports.length }).toEqual({ name, ports: name === 'nginx' ? 1 : 0 })
    // A version, so that an update is somebody's decision.
    if (part.build === undefined) expect(part.image).toMatch(/:v?\d[\w.-]*$/)
    else expect(existsSync(join(DEPLOY, part.build.context, part.build.dockerfile))).toBe(true)
    expect(Object.keys(compose.networks)).toEqual(expect.arrayContaining(Object.keys(part.networks)))
    for (const volume of part.volumes) {
      const source = volume.split(':')[0] ?? ''
      const isThere = source.startsWith('./') ? existsSync(join(DEPLOY, source)) : source in compose.volumes
      expect({ volume, isThere }).toEqual({ volume, isThere: true })
    }
  }
})

test('nginx reads files that are there', () => {
  const nginx = composed(madeEnvironment()).services.nginx
  expect(nginx?.volumes).toContain('./nginx:/etc/nginx/snippets:ro')
  const included = [
    ...readFileSync(join(DEPLOY, 'nginx/compose.conf'), 'utf8').matchAll(/^include snippets\/(.*);$/gm),
  ]
  expect(included).toHaveLength(3)
  for (const [, name = ''] of included) expect(existsSync(join(DEPLOY, 'nginx', name))).toBe(true)
})

type Compose = z.infer<typeof composeFile>

function nodesOf(compose: Compose): z.infer<typeof service>[] {
  return Object.values(compose.services).filter(({ build }) => build !== undefined)
}

function withoutAddresses(names: readonly string[]): Record<string, { ipv4_address?: string }> {
  return Object.fromEntries(names.map((name) => [name, {}]))
}

/** The compose file as docker compose reads it with these variables. Throws for a required one that is empty. */
function composed(environment: Record<string, string>): Compose {
  return composeFile.parse(readCompose(text, environment))
}

/** A copy of the script in a folder of its own: it writes beside itself. */
function deployFolder() {
  const folder = temporaryFolder()
  Bun.spawnSync(['cp', join(DEPLOY, 'make-env.sh'), folder.path])
  return folder
}

function makeEnvironment(folder: string): { exitCode: number } {
  return Bun.spawnSync(['sh', join(folder, 'make-env.sh'), PUBLIC_URL])
}

function madeEnvironment(): Record<string, string> {
  using folder = deployFolder()
  expect(makeEnvironment(folder.path).exitCode).toBe(0)
  const lines = readFileSync(join(folder.path, '.env'), 'utf8').trim().split('\n')
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}
