/** Work that runs side by side: so much of each kind at once, in the order given. */

export interface Lane<Task> {
  readonly tasks: readonly Task[]
  readonly atOnce: number
  /** How many of its workers go on with the next lane when no task of this one is left. */
  readonly goOn?: number
}

/** Does the work of all lanes. `running` tells at any time which tasks are under way. */
export function runLanes<Task>(lanes: readonly Lane<Task>[], work: (task: Task) => Promise<void>) {
  const running = new Set<Task>()
  const queues = lanes.map(({ tasks }) => [...tasks])
  const worker = async (own: readonly Task[][]) => {
    const next = () => own.find((queue) => queue.length > 0)?.shift()
    for (let task = next(); task !== undefined; task = next()) {
      running.add(task)
      try {
        await work(task)
      } finally {
        running.delete(task)
      }
    }
  }
  const workers = lanes.flatMap(({ atOnce, goOn = 0 }, lane) =>
    Array.from({ length: atOnce }, (_, at) => worker(queues.slice(lane, at < goOn ? lane + 2 : lane + 1))),
  )
  return { running, done: Promise.all(workers).then(() => {}) }
}
