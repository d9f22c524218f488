import { type Pacing, retrying, type StoreRetryPolicy } from './retries.ts'
import { failureOf, isTransient, S3Silent } from './s3-failure.ts'
import type { S3Requests, S3Try } from './s3-requests.ts'

/** For requests on which a client waits. */
const REQUEST_RETRIES: StoreRetryPolicy = { tries: 4, giveUpAfter: 12_000 }

/** Throws S3Failure, with the store's own words, unless the status is 2xx. */
export function refusingRequests(requests: S3Requests<S3Try>): S3Requests<S3Try> {
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
export function repeatedRequests(requests: S3Requests<S3Try>, pacing: Pacing): S3Requests {
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
