/** Distinguishes requests to the site from those to the content's own host name. */
export interface Hosts {
  /** Whether the request was sent to the content's host; null when content has no host of its own. */
  isContent(request: Request): boolean | null
}

/**
 * `publicUrl`, `contentUrl`: without a path. The port is only compared when the host names are equal, because
 * a proxy may drop it.
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
