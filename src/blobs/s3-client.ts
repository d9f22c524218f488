import { systemTimers } from '../domain/clock.ts'
import { SilenceWatch } from '../domain/silence.ts'
import type { MarkCopy } from './blob-store.ts'
import { type Pacing, retrying, type StoreRetryPolicy } from './retries.ts'
import { failureOf, isErrorDocument, isTransient, S3Silent } from './s3-failure.ts'
import {
  type S3Reply,
  type S3Request,
  type S3Requests,
  type S3Settings,
  type S3Try,
  s3Signing,
  signedRequests,
  type WatchedTry,
} from './s3-requests.ts'
import { type S3Timeouts, watchedRequests } from './s3-watchdog.ts'

export interface S3Answer {
  readonly headers: Headers
  readonly text: string
}

/** An answer whose body has not arrived yet. Take the body, and read or cancel it. */
export type S3Stream = Pick<S3Reply, 'status' | 'headers' | 'bytes' | 'takeBody' | 'close'>

/** Sends signed requests to one bucket, with retries. Throws S3Failure unless the status is 2xx. */
export interface S3Client {
  readonly bucket: string
  readonly timeouts: S3Timeouts
  send(request: S3Request): Promise<S3Answer>
  /** Calls `use` as soon as the head has arrived, and perhaps again in a retry. */
  open<T>(request: S3Request, use: (answer: S3Stream) => T | Promise<T>): Promise<T>
  presign(object: string, query: Readonly<Record<string, string>>, seconds: number): Promise<string>
}

export function s3Client(
  settings: S3Settings,
  pacing: Pacing,
  timeouts: S3Timeouts,
  watch: S3Watch = () => () => {},
  isPatient = false,
): S3Client {
  const signing = s3Signing(settings)
  const signed = signedRequests(signing)
  const watched = watchedRequests(signed, timeouts, isPatient ? null : silenceOf(signed))
  const requests: S3Requests = repeatedRequests(refusingRequests(countedRequests(watched, watch)), pacing)
  return {
    bucket: settings.bucket,
    timeouts,
    presign: signing.presign,

    send: (request) =>
      requests.perform(request, async (reply) => {
        const text = await reply.text()
        // A store may answer 200 before long work; the body then has the outcome.
        if (isErrorDocument(text)) throw failureOf(reply.what, reply.status, text)
        return { headers: reply.headers, text }
      }),

    open: (request, use) => requests.perform(request, async (reply) => use(reply)),
  }
}

/** Asks for the mark, because a front may answer while the store behind it does not. */
function silenceOf(requests: S3Requests<WatchedTry>): SilenceWatch {
  return new SilenceWatch({
    ping: (signal) =>
      requests.perform(
        // A retry has a connection of its own.
        { method: 'GET', object: 'mark' satisfies MarkCopy, signal, tries: 2, moved() {} },
        async (reply) => {
          await reply.text()
        },
      ),
    failure: () => new S3Silent(),
    timers: systemTimers,
  })
}

/** For requests on which a client waits. */
const REQUEST_RETRIES: StoreRetryPolicy = { tries: 4, giveUpAfter: 12_000 }

/** Throws S3Failure, with the store's own words, unless the status is 2xx. */
function refusingRequests(requests: S3Requests<S3Try>): S3Requests<S3Try> {
  return {
    perform: (request, use) =>
      requests.perform(request, async (reply) => {
        const { status, what } = reply
        if (status >= 200 && status < 300) return use(reply)
        throw failureOf(what, status, await reply.text())
      }),
  }
}

/** Retries transient failures, also of `use`. All requests are idempotent. */
function repeatedRequests(requests: S3Requests<S3Try>, pacing: Pacing): S3Requests {
  return {
    perform(request, use) {
      const { signal, retries: policy = REQUEST_RETRIES } = request
      const attempt = async (tries: number) => {
        signal?.throwIfAborted()
        return requests.perform({ ...request, tries }, use)
      }
      const mayPass = (error: unknown) => isTransient(error) && !(error instanceof S3Silent)
      return retrying(attempt, { isTransient: mayPass, policy, pacing, signal })
    },
  }
}

/** Called when a try begins; the result is called with the status, the reason for its absence, or `given up`. */
export type S3Watch = (method: S3Request['method']) => (outcome: string) => void

function countedRequests(requests: S3Requests<S3Try>, watch: S3Watch): S3Requests<S3Try> {
  return {
    async perform(request, use) {
      const ended = watch(request.method)
      let isTold = false
      try {
        return await requests.perform(request, (reply) => {
          isTold = true
          ended(String(reply.status))
          return use(reply)
        })
      } catch (error) {
        if (!isTold) ended(request.signal?.aborted ? 'given up' : 'no answer')
        throw error
      }
    },
  }
}
