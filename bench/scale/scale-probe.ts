/**
 * A process that sends requests to a server at fixed intervals, regardless of pending responses, until its
 * standard input ends; then it prints every latency as JSON.
 */
import { type Question, scaleClient, smallUpload } from './scale-client.ts'

export interface ProbeJob {
  readonly url: string
  readonly apiKey: string
  readonly loops: readonly ProbeLoop[]
}

export interface ProbeLoop {
  readonly name: string
  /** Milliseconds between two requests. */
  readonly every: number
  /** Path of a GET; null uploads a small file. */
  readonly path: string | null
}

export interface ProbeSample {
  readonly name: string
  /** Scheduled time, in milliseconds since the epoch. */
  readonly due: number
  /** Milliseconds from the scheduled time to the response, which avoids coordinated omission. */
  readonly milliseconds: number
  /** Problem with the answer, or null. */
  readonly problem: string | null
}

const job: ProbeJob = JSON.parse(process.argv[2] ?? '')
const client = scaleClient(job.url, job.apiKey)
const samples: ProbeSample[] = []
const underWay = new Set<Promise<void>>()
const now = () => performance.timeOrigin + performance.now()

const timers = job.loops.map((loop) => {
  let due = now()
  return setInterval(
    () => {
      for (; due <= now(); due += loop.every) start(loop, due)
    },
    Math.min(loop.every, 5),
  )
})
process.stdout.write('ready\n')
for await (const _ of Bun.stdin.stream()) {
  // Standard input carries no data; its end stops the probe.
}
for (const timer of timers) clearInterval(timer)
await Promise.all(underWay)
process.stdout.write(JSON.stringify(samples))

function start(loop: ProbeLoop, due: number): void {
  const asked = ask(loop, due).finally(() => underWay.delete(asked))
  underWay.add(asked)
}

async function ask({ name, path }: ProbeLoop, due: number): Promise<void> {
  const question: Question = path === null ? smallUpload() : { method: 'GET', path }
  let problem: string | null = null
  try {
    await client.ask(question)
  } catch (error) {
    problem = String(error)
  }
  samples.push({ name, due, milliseconds: now() - due, problem })
}
