/** A real S3 store for tests: a Ceph RADOS Gateway of this process, or the store that a variable names. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { S3Settings } from '../../src/blobs/s3-client.ts'
import { runProgram } from './program.ts'

const store = z.strictObject({
  endpoint: z.url(),
  region: z.string(),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
})

/** Where a store is and how to sign for it. Buckets may be made there, and addresses have them in the path. */
export type S3Endpoint = Readonly<z.infer<typeof store>>

export interface Ceph extends S3Endpoint {
  /** Of the monitor, the OSD and the gateway. */
  readonly pids: readonly number[]
  /** The gateway stands still: connections are taken by the system and nothing answers. */
  pause(): void
  resume(): void
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

const SCRIPT = join(import.meta.dir, 'ceph-rgw.sh')
/** The script makes this account. */
const ACCOUNT = { region: 'default', accessKeyId: 'test', secretAccessKey: 'testtest' }

/** What stands in the way of an S3 store for tests, or null. */
export function whyNoCeph(): string | null {
  if (sharedStore() !== null) return null
  const missing = Bun.spawnSync(['bash', SCRIPT, 'missing']).stdout.toString().trim()
  if (missing !== '') {
    return `Ceph is not installed (${missing}): \`apt-get install --no-install-recommends radosgw ceph-mon ceph-osd ceph-common\`, or name an S3 store in HOLDFAST_TEST_S3`
  }
  return process.getuid?.() === 0 ? null : 'only root may start Ceph; name an S3 store in HOLDFAST_TEST_S3'
}

/**
 * Starts a gateway of its own, which takes about 15 seconds. It ends with this process, whichever way that ends, and
 * keeps the bytes in memory: 6 GiB at most. `onDisk`: in a sparse file in the folder for temporary files instead.
 */
export async function startCeph({ onDisk = false } = {}): Promise<Ceph> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-ceph-'))
  const { code, output, errors } = await runProgram(['bash', SCRIPT, 'start', folder], {
    env: { ...process.env, OWNER: String(process.pid), STORE: onDisk ? 'bluestore' : 'memstore' },
  })
  if (code !== 0) throw new Error(`no Ceph could be started: ${errors.trim()}`)
  const pidOf = (name: string) => Number(readFileSync(join(folder, `run/${name}.pid`), 'utf8'))
  const gateway = pidOf('client.rgw')
  return {
    endpoint: output.trim(),
    ...ACCOUNT,
    pids: [pidOf('mon.a'), pidOf('osd.0'), gateway],
    pause: () => process.kill(gateway, 'SIGSTOP'),
    resume: () => process.kill(gateway, 'SIGCONT'),
    async stop() {
      const { exitCode, stderr } = Bun.spawnSync(['bash', SCRIPT, 'stop', folder])
      if (exitCode !== 0) throw new Error(`Ceph could not be stopped: ${stderr}`)
    },
  }
}

/**
 * The store that HOLDFAST_TEST_S3 names (JSON: endpoint, region, accessKeyId, secretAccessKey), or one that this
 * process starts for all its tests. Throws when there is neither.
 */
export async function cephEndpoint(): Promise<S3Endpoint> {
  own ??= sharedStore() === null ? startCeph() : null
  const endpoint = sharedStore() ?? (await own)
  if (endpoint === null) throw new Error('HOLDFAST_TEST_S3 went while the tests ran')
  return endpoint
}

/** What goes into HOLDFAST_TEST_S3. */
export function s3Variable({ endpoint, region, accessKeyId, secretAccessKey }: S3Endpoint): string {
  return JSON.stringify({ endpoint, region, accessKeyId, secretAccessKey })
}

/** Settings with a bucket of a new name, which the store will make: this one, or that of all tests. */
export async function newBucket(of?: S3Endpoint): Promise<S3Settings> {
  const { endpoint, region, accessKeyId, secretAccessKey } = of ?? (await cephEndpoint())
  const bucket = `holdfast-test-${crypto.randomUUID()}`
  return { endpoint, region, accessKeyId, secretAccessKey, bucket, pathStyle: true }
}

let own: Promise<Ceph> | null = null

function sharedStore(): S3Endpoint | null {
  const variable = process.env.HOLDFAST_TEST_S3
  return variable === undefined || variable === '' ? null : store.parse(JSON.parse(variable))
}
