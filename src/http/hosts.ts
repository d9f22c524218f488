/** Which of two names a request was sent to, where content is served from a name of its own. */
export interface Hosts {
  /** Whether the request was sent to the name of the content; null where content has no name of its own. */
  isContent(request: Request): boolean | null
}

/**
 * `publicUrl`, `contentUrl`: without a path. A proxy may leave out the port, so that it counts only where the two names
 * are the same without it.
 */
export function createHosts(publicUrl: string, contentUrl: string): Hosts {
  const content = new URL(contentUrl)
  const site = new URL(publicUrl)
  if (content.host === site.host) return { isContent: () => null }
  const part = content.hostname === site.hostname ? 'host' : 'hostname'
  return {
    isContent(request) {
      const host = request.headers.get('host')
      return host !== null && URL.parse(`${content.protocol}//${host}`)?.[part] === content[part]
    },
  }
}
