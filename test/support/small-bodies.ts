/** A proxy that refuses large bodies with a page of its own, as nginx and others do. */

export interface SmallBodies {
  readonly url: string
  /** How many requests it has refused. */
  refused(): number
  stop(): Promise<void>
}

/** `most`: bytes that a body may have. */
export function startSmallBodies(target: string, most: number): SmallBodies {
  let refused = 0
  const proxy = Bun.serve({
    hostname: 'localhost',
    port: 0,
    async fetch(request) {
      if (Number(request.headers.get('content-length') ?? 0) > most) {
        refused += 1
        return new Response('<h1>413 Request Entity Too Large</h1>', {
          status: 413,
          headers: { 'content-type': 'text/html' },
        })
      }
      const { pathname, search } = new URL(request.url)
      const body = ['GET', 'HEAD'].includes(request.method) ? null : await request.arrayBuffer()
      return fetch(target + pathname + search, {
        method: request.method,
        headers: request.headers,
        body,
        redirect: 'manual',
        keepalive: false,
        // Passed on as it is.
        decompress: false,
      })
    },
  })
  return {
    url: proxy.url.origin,
    refused: () => refused,
    stop: () => proxy.stop(true),
  }
}
