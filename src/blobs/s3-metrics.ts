import type { S3Request, S3Requests, S3Try } from './s3-requests.ts'

/**
 * Called when a try begins. The function that it returns is called with the status of the answer, or with the reason why
 * there is none: `given up` when the caller aborted it.
 */
export type S3Watch = (method: S3Request['method']) => (outcome: string) => void

/** Reports each try once, as soon as the head of its answer has arrived or it has failed. */
export function countedRequests(requests: S3Requests<S3Try>, watch: S3Watch): S3Requests<S3Try> {
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
