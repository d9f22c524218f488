import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { Refusal } from '../../domain/errors.ts'
import type { Log } from '../../log.ts'
import { listenByDispatch } from './dispatch-listener.ts'
import { dispatchFault } from './dispatch-self-test.ts'
import type { AnswerRequest } from './exchange.ts'
import type { HttpListener, Listening, ListenOptions, ListenWay } from './listening.ts'
import { listenByNode } from './node-listener.ts'

const DEFAULTS = {
  receiving: [],
  plain: [],
  flow: null,
  failed: () => new Response(null, { status: 500 }),
  refuse: () => new Response(null, { status: 400 }),
  headWithin: 30,
  ceiling: { most: Number.POSITIVE_INFINITY, bucketOf: () => null, refused() {} },
} as const satisfies Partial<Listening>

/**
 * `Bun.serve` drops Content-Length from streams and loses answers to pipelined requests, so requests are taken beneath
 * `node:http` (docs/decisions/http.md), or by `node:http` where Bun lacks that. Throws the system's error when it
 * cannot listen.
 */
export async function listen(options: ListenOptions, answer: AnswerRequest, log: Log): Promise<HttpListener> {
  const listening: Listening = { ...DEFAULTS, ...options }
  const brokeOff = (error: unknown) => {
    if (error instanceof Refusal) log.info({ code: error.code }, 'an answer broke off')
    else log.error({ err: error }, 'an answer broke off')
  }
  await assertResolves(options.hostname)
  if ((options.way ?? (await workingWay(log))) === 'dispatch') {
    return listenByDispatch(listening, answer, brokeOff)
  }
  return listenByNode(listening, answer, brokeOff)
}

/** Throws ENOTFOUND. For an unknown name Bun reports any earlier system error, or none. */
async function assertResolves(hostname: string): Promise<void> {
  if (isIP(hostname) !== 0) return
  try {
    await lookup(hostname)
  } catch (cause) {
    throw Object.assign(new Error(`${hostname} does not resolve`, { cause }), {
      code: 'ENOTFOUND',
      syscall: 'listen',
    })
  }
}

async function workingWay(log: Log): Promise<ListenWay> {
  const fault = await dispatchFault()
  if (fault === null) return 'dispatch'
  log.warn(
    { err: fault },
    'requests are answered by node:http, which is slower: the faster way failed its test',
  )
  return 'node:http'
}
