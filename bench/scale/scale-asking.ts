/** Sends the same requests to two hosts in turn, so that other load on the machine affects both. */

import { scaleClient } from './scale-client.ts'
import type { ScaleHost } from './scale-hosts.ts'
import { type AskedQuestion, scaleQuestions } from './scale-questions.ts'

/** Milliseconds. */
export interface QuestionTimes {
  readonly median: number
  readonly p95: number
}

export interface Compared {
  readonly asked: AskedQuestion
  readonly small: QuestionTimes
  readonly large: QuestionTimes
}

/** A host with the address of its server. */
export interface Served {
  readonly host: ScaleHost
  readonly url: string
}

const WARM_UP = 6

/** Sends every request `rounds` times to each host. Throws when an answer is wrong. */
export async function compare(
  small: Served,
  large: Served,
  rounds: number,
  say: (line: string) => void,
): Promise<Compared[]> {
  const compared: Compared[] = []
  for (const asked of scaleQuestions()) {
    const askers = [asker(small, asked), asker(large, asked)] as const
    const times: [number[], number[]] = [[], []]
    for (let round = -WARM_UP; round < rounds; round++) {
      for (const at of [0, 1] as const) {
        const milliseconds = await askers[at](round + WARM_UP)
        if (round >= 0) times[at].push(milliseconds)
      }
    }
    const row = { asked, small: summary(times[0]), large: summary(times[1]) }
    say(`${asked.title}: ${row.small.median.toFixed(2)} → ${row.large.median.toFixed(2)} ms`)
    compared.push(row)
  }
  return compared
}

function asker({ host, url }: Served, asked: AskedQuestion): (round: number) => Promise<number> {
  const client = scaleClient(url, host.apiKey)
  const questions = asked.questions(host.facts)
  return async (round) => {
    const question = questions[round % questions.length]
    if (question === undefined) throw new Error(`there is nothing to ask for "${asked.title}"`)
    const { milliseconds, body } = await client.ask(question)
    try {
      asked.check?.(body, host.facts)
    } catch (cause) {
      throw new Error(`${asked.title}, ${host.dataDir}`, { cause })
    }
    if (asked.undo !== undefined) await client.ask(asked.undo(body))
    return milliseconds
  }
}

export function summary(values: readonly number[]): QuestionTimes {
  return { median: quantile(values, 0.5), p95: quantile(values, 0.95) }
}

/** The quantile of the values, by nearest rank. NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN
}
