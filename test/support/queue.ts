/** Work that runs side by side: so much of each kind at once, in the order given. */

export interface Lane<Task> {
  readonly tasks: readonly Task[]
  readonly atOnce: number
}

/** Does the work of all lanes. `running` tells at any time which tasks are under way. */
export function runLanes<Task>(lanes: readonly Lane<Task>[], work: (task: Task) => Promise<void>) {
  const running = new Set<Task>()
  const worker = async (waiting: Task[]) => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      running.add(task)
      try {
        await work(task)
      } finally {
        running.delete(task)
      }
    }
  }
  const workers = lanes.flatMap(({ tasks, atOnce }) => {
    const waiting = [...tasks]
    return Array.from({ length: atOnce }, () => worker(waiting))
  })
  return { running, done: Promise.all(workers).then(() => {}) }
}
