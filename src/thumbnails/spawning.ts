/** How processes are started that read what strangers have made. */
import { writeFileSync } from 'node:fs'

/** Ways to a network of its own with nobody in it, the first that works is taken. */
const WITHOUT_NETWORK = [['--user', '--net'], ['--net']] as const

/** A tenth of what others get on a busy machine: what is still lower does not come to its end there. */
const LOW_PRIORITY = '10'

/** Milliseconds. */
const PROBE_LIMIT = 10_000

export interface Spawner {
  /** Whether what is started has no network, and cannot see into this process. */
  readonly isOffline: boolean
  /**
   * Starts a program by its path, with an environment of these variables alone, behind everything else that runs on the
   * machine, and first to go where the memory of all is at its end.
   */
  spawn(command: readonly string[], stdin: 'pipe' | number, variables?: Record<string, string>): Spawned
}

export type Spawned = Bun.Subprocess<'pipe' | number, 'pipe', 'ignore'>

/** Finds out what this machine allows. */
export function createSpawner(): Spawner {
  const offline = offlinePrefix()
  const nice = Bun.which('nice')
  const prefix = [...(offline ?? []), ...(nice === null ? [] : [nice, '-n', LOW_PRIORITY])]
  return {
    isOffline: offline !== null,
    spawn(command, stdin, variables = {}) {
      // Each of the programs in front becomes the next one, so the process is that of the last.
      const child = Bun.spawn([...prefix, ...command], {
        cwd: '/',
        env: variables,
        stdin,
        stdout: 'pipe',
        stderr: 'ignore',
      })
      child.unref()
      goFirst(child.pid)
      return child
    },
  }
}

/** The command that puts another one where no network is; null where the machine lets nobody do that. */
function offlinePrefix(): readonly string[] | null {
  const unshare = Bun.which('unshare')
  const cat = Bun.which('cat')
  if (unshare === null || cat === null) return null
  for (const options of WITHOUT_NETWORK) {
    const prefix = [unshare, ...options, '--']
    // Waited for synchronously: it takes milliseconds, and the stream of a child's output may never end (Bun 1.4.5).
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

/** Where the system has no such thing, or the process is gone already, nothing is lost. */
function goFirst(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000')
  } catch {}
}
