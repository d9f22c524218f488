/** Runs tasks concurrently, as many as the processors can take. */
import { availableParallelism, cpus } from 'node:os'

export interface Width {
  /** Number of tasks that run in any case, however busy the machine is. */
  readonly least: number
  readonly most: number
  /** Polled while fewer than `most` tasks run: whether one more may start. */
  hasRoom(): boolean
}

/** Milliseconds between two polls. */
const ASK_EVERY = 500
/** Share of idle processor time that is required to start another task. */
const IDLE_SHARE = 0.2
/** Maximum tasks per processor. */
export const MOST_EACH = 4

/**
 * Starts the tasks in order, but `ready` ones first; `ready` is polled for the others. `running` holds those
 * under way.
 */
export function runQueue<Task>(
  tasks: readonly Task[],
  { width, ready = () => true }: { readonly width: Width; readonly ready?: (task: Task) => boolean },
  work: (task: Task) => Promise<void>,
): { readonly running: ReadonlySet<Task>; readonly done: Promise<void> } {
  const running = new Set<Task>()
  const queue = [...tasks]
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  const timer = setInterval(() => {
    fill()
    if (running.size < width.most && width.hasRoom()) startNext()
  }, ASK_EVERY)

  function startNext(): boolean {
    const at = queue.findIndex(ready)
    const [task] = at === -1 ? [] : queue.splice(at, 1)
    if (task === undefined) return false
    running.add(task)
    work(task).then(() => {
      running.delete(task)
      fill()
    }, reject)
    return true
  }
  function fill(): void {
    while (running.size < width.least && startNext());
    if (running.size === 0 && queue.length === 0) resolve()
  }

  fill()
  return { running, done: done.finally(() => clearInterval(timer)) }
}

/** As many tasks as processors, and more while some are idle. */
export function widthOfMachine(atMost: number): Width {
  const processors = availableParallelism()
  let last = { at: performance.now(), used: usedMilliseconds() }
  return {
    least: Math.min(processors, atMost),
    most: Math.min(MOST_EACH * processors, atMost),
    hasRoom() {
      const now = { at: performance.now(), used: usedMilliseconds() }
      const share = (now.used - last.used) / (now.at - last.at) / cpus().length
      last = now
      return share < 1 - IDLE_SHARE
    },
  }
}

/** Busy time of all processors since boot. Waiting for a disk does not count. */
function usedMilliseconds(): number {
  return cpus().reduce((total, { times: { user, nice, sys, irq } }) => total + user + nice + sys + irq, 0)
}
