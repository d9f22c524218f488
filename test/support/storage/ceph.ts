/** A real S3 store for tests: a Ceph RADOS Gateway of this process, or the store named by a variable. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { S3Settings } from '../../../src/blobs/s3-client.ts'
import { runProgram } from '../processes/program.ts'

const store = z.strictObject({
  endpoint: z.url(),
  region: z.string(),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
})

/** Address and credentials of a store. Buckets may be created; addresses are in path style. */
export type S3Endpoint = Readonly<z.infer<typeof store>>

export interface Ceph extends S3Endpoint {
  /** Processes of monitor, OSD and gateway. */
  readonly pids: readonly number[]
  /** Suspends the gateway: connections are accepted by the system and never answered. */
  pause(): void
  resume(): void
  /** Stops it and deletes its data. */
  stop(): Promise<void>
}

const SCRIPT = join(import.meta.dir, 'ceph-rgw.sh')
/** Account that the script creates. */
const ACCOUNT = { region: 'default', accessKeyId: 'test', secretAccessKey: 'testtest' }

/** Why no S3 store is available for tests, or null. */
export function whyNoCeph(): string | null {
  if (sharedStore() !== null) return null
  const missing = Bun.spawnSync(['bash', SCRIPT, 'missing']).stdout.toString().trim()
  if (missing !== '') {
    return `Ceph is not installed (${missing}): \`apt-get install --no-install-recommends radosgw ceph-mon ceph-osd ceph-common\`, or name an S3 store in HOLDFAST_TEST_S3`
  }
  return process.getuid?.() === 0 ? null : 'only root may start Ceph; name an S3 store in HOLDFAST_TEST_S3'
}

/**
 * Starts a gateway, which takes about 15 seconds. It ends with this process in any case, and keeps up to 6
 * GiB in memory; with `onDisk` in a sparse file in the `folder` instead.
 */
export async function startCeph({ onDisk = false, folder: within = tmpdir() } = {}): Promise<Ceph> {
  const folder = mkdtempSync(join(within, 'holdfast-ceph-'))
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
 * The store named by HOLDFAST_TEST_S3 (JSON: endpoint, region, accessKeyId, secretAccessKey), or one that
 * this process starts for all its tests. Throws when neither is available.
 */
export async function cephEndpoint(): Promise<S3Endpoint> {
  own ??= sharedStore() === null ? startCeph() : null
  const endpoint = sharedStore() ?? (await own)
  if (endpoint === null) throw new Error('HOLDFAST_TEST_S3 went while the tests ran')
  return endpoint
}

/** Value for HOLDFAST_TEST_S3. */
export function s3Variable({ endpoint, region, accessKeyId, secretAccessKey }: S3Endpoint): string {
  return JSON.stringify({ endpoint, region, accessKeyId, secretAccessKey })
}

/** Settings with a new bucket name, which the store will create; by default in the store of all tests. */
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
