export interface Hosts {
  /** Null when content has no host of its own. */
  isContent(request: Request): boolean | null
}

/** Without paths. The port only counts when the host names are equal, since a proxy may drop it. */
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
