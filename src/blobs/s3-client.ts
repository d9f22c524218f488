import { systemTimers } from '../domain/clock.ts'
import { SilenceWatch } from '../domain/silence.ts'
import type { MarkCopy } from './blob-store.ts'
import type { Pacing } from './retries.ts'
import { failureOf, S3Silent } from './s3-failure.ts'
import { countedRequests, type S3Watch } from './s3-metrics.ts'
import {
  type S3Reply,
  type S3Request,
  type S3Requests,
  signedRequests,
  type WatchedTry,
} from './s3-requests.ts'
import { refusingRequests, repeatedRequests } from './s3-retries.ts'
import { type S3Settings, s3Signing } from './s3-signing.ts'
import { type S3Timeouts, watchedRequests } from './s3-watchdog.ts'
import { isErrorDocument } from './s3-xml.ts'

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
