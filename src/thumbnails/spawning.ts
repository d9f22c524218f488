import { writeFileSync } from 'node:fs'

/** Options of `unshare` for a network namespace without interfaces; the first that works is used. */
const WITHOUT_NETWORK = [['--user', '--net'], ['--net']] as const

/** Niceness: a tenth of the normal share on a busy machine; at a lower one, work would not end there. */
const LOW_PRIORITY = '10'

/** Milliseconds. */
const PROBE_LIMIT = 10_000

export interface Spawner {
  /** Children have no network and cannot see into this process. */
  readonly isOffline: boolean
  /** Only these environment variables, low priority, and the first candidate of the out-of-memory killer. */
  spawn(command: readonly string[], stdin: 'pipe' | number, variables?: Record<string, string>): Spawned
}

export type Spawned = Bun.Subprocess<'pipe' | number, 'pipe', 'ignore'>

export function createSpawner(): Spawner {
  const offline = offlinePrefix()
  const nice = Bun.which('nice')
  const prefix = [...(offline ?? []), ...(nice === null ? [] : [nice, '-n', LOW_PRIORITY])]
  return {
    isOffline: offline !== null,
    spawn(command, stdin, variables = {}) {
      // Each wrapper execs the next program, so the process becomes the last one.
      const child = Bun.spawn([...prefix, ...command], {
        cwd: '/',
        env: variables,
        stdin,
        stdout: 'pipe',
        stderr: 'ignore',
      })
      child.unref()
      preferForOomKill(child.pid)
      return child
    },
  }
}

/** Null where the machine does not permit it. */
function offlinePrefix(): readonly string[] | null {
  const unshare = Bun.which('unshare')
  const cat = Bun.which('cat')
  if (unshare === null || cat === null) return null
  for (const options of WITHOUT_NETWORK) {
    const prefix = [unshare, ...options, '--']
    // Synchronous: it takes milliseconds, and the output stream of a child may never end (Bun 1.4.5).
    const { success, stdout } = Bun.spawnSync([...prefix, cat, '/proc/self/net/dev'], {
      env: {},
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
      timeout: PROBE_LIMIT,
    })
    const [first, ...others] = [...stdout.toString().matchAll(/^ *(\S+):/gm)].map(([, name]) => name)
    if (success && first === 'lo' && others.length === 0) return prefix
  }
  return null
}

/** Best effort: the system may lack this file, and the process may have ended. */
function preferForOomKill(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000')
  } catch {}
}
