/**
 * A process of its own that asks a server the same things in their rhythm, whether or not the answers before have
 * come, until its standard input ends; then it prints every answer's time as JSON.
 */
import { type Question, scaleClient, smallUpload } from './scale-client.ts'

export interface ProbeJob {
  readonly url: string
  readonly apiKey: string
  readonly loops: readonly ProbeLoop[]
}

export interface ProbeLoop {
  readonly name: string
  /** Milliseconds from one question to the next. */
  readonly every: number
  /** What is asked with GET; null uploads a small file. */
  readonly path: string | null
}

export interface ProbeSample {
  readonly name: string
  /** When it was due, in milliseconds since the epoch. */
  readonly due: number
  /** Milliseconds from then to the answer, so that one late answer does not hide those that waited behind it. */
  readonly milliseconds: number
  /** What was wrong with the answer. */
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
  // Nothing is said to it.
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
