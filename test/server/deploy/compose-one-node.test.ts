import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import { join } from 'node:path'
import { z } from 'zod'
import { loadConfig } from '../../../src/config.ts'
import { readCompose } from './compose-file.ts'
import { parseDockerfile } from './dockerfile.ts'

const DEPLOY = join(import.meta.dir, '../../../deploy')
const text = readFileSync(join(DEPLOY, 'compose-one-node.yaml'), 'utf8')
const image = parseDockerfile(readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8')).at(-1)?.instructions ?? []

const one = <T extends z.ZodType>(shape: T) => z.tuple([shape])
const composeFile = z.object({
  services: z.object({
    holdfast: z.object({
      build: z.object({ context: z.string(), dockerfile: z.string() }),
      user: z.string(),
      environment: z.record(z.string(), z.string()),
      ports: one(z.string()),
      volumes: one(z.string()),
      networks: one(z.literal('web')),
      restart: z.literal('unless-stopped'),
      stop_grace_period: z.string(),
      read_only: z.literal(true),
    }),
  }),
  networks: z.object({
    web: z.object({
      ipam: z.object({ config: one(z.object({ subnet: z.string(), gateway: z.string() })) }),
    }),
  }),
  volumes: z.record(z.string(), z.object({})),
})

test('the compose file of one node starts without any variable, with SQLite and a volume of its own', () => {
  const { services, volumes } = composed({})
  const node = services.holdfast
  expect(existsSync(join(DEPLOY, node.build.context, node.build.dockerfile))).toBe(true)
  // The program refuses variables that it does not know.
  const config = loadConfig({ ...imageEnvironment(), ...node.environment })
  expect(config).toMatchObject({ publicUrl: 'http://localhost:3000', databaseUrl: null, s3: null })
  const [volume, target] = node.volumes[0].split(':')
  expect(Object.keys(volumes)).toEqual([volume ?? ''])
  expect(target).toBe(ofImage('VOLUME'))
  expect(target).toBe(config.dataDir)
  // A new volume belongs to the user of the image.
  expect(node.user).toBe(ofImage('USER'))
  expect(Number(/^(\d+)s$/.exec(node.stop_grace_period)?.[1])).toBeGreaterThan(35)
})

test('one node is reached from its own machine alone, and trusts the proxy there', () => {
  const { services, networks } = composed({ HTTP_PORT: '8080' })
  expect(services.holdfast.ports).toEqual([`127.0.0.1:8080:${ofImage('EXPOSE')}`])
  const { subnet, gateway } = networks.web.ipam.config[0]
  const [address = '', bits] = subnet.split('/')
  const addresses = new BlockList()
  addresses.addSubnet(address, Number(bits))
  expect(addresses.check(gateway)).toBe(true)
  expect(services.holdfast.environment.HOLDFAST_TRUSTED_PROXIES).toBe(gateway)
})

test('a folder of the host and its owner take the place of the volume and the user of the image', () => {
  const { holdfast } = composed({
    DATA_FOLDER: '/srv/holdfast',
    DATA_OWNER: '1000:1000',
    HOLDFAST_PUBLIC_URL: 'https://files.example.org',
  }).services
  expect(holdfast.volumes).toEqual(['/srv/holdfast:/data'])
  expect(holdfast.user).toBe('1000:1000')
  expect(loadConfig(holdfast.environment).publicUrl).toBe('https://files.example.org')
})

test('every variable of the compose file of one node stands in its head with its default', () => {
  const used = [...text.matchAll(/\$\{(\w+):-([^}]*)\}/g)].map(([, name, preset]) => [name, preset])
  const told = [...text.matchAll(/^# {3}([A-Z_]+)=(\S+) /gm)].map(([, name, preset]) => [name, preset])
  expect(used.sort()).toEqual(told.sort())
})

test('nothing in deploy asks for an interval of the first checks, which builders before Docker 25 refuse', () => {
  const files = readdirSync(DEPLOY, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  const asking = files.filter((file) =>
    /start[-_]interval/.test(readFileSync(join(file.parentPath, file.name), 'utf8')),
  )
  expect(asking.map(({ name }) => name)).toEqual([])
})

function composed(environment: Record<string, string>): z.infer<typeof composeFile> {
  return composeFile.parse(readCompose(text, environment))
}

function ofImage(name: string): string {
  return image.find((instruction) => instruction.name === name)?.rest ?? ''
}

function imageEnvironment(): Record<string, string> {
  const pairs = [...ofImage('ENV').matchAll(/(HOLDFAST_\w+)=(\S+)/g)]
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]))
}
