import type { S3Request, S3Requests, S3Try } from './s3-requests.ts'

/** Called when a try begins; the result is called with the status, the reason for its absence, or `given up`. */
export type S3Watch = (method: S3Request['method']) => (outcome: string) => void

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
