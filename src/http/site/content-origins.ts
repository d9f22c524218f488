import type { S3Config } from '../../config.ts'
import type { Site } from '../call.ts'

/** Where pictures and films on our pages may come from, besides the address that the page itself has. */
export function contentOrigins({ config, publicUrl, contentUrl }: Site): string[] {
  const origins = [publicUrl, contentUrl].map((url) => new URL(url).origin)
  // A browser follows a redirect only to where the page allows it.
  if (config.s3Redirect && config.s3 !== null) origins.push(storeOrigin(config.s3))
  return [...new Set(origins)]
}

function storeOrigin({ endpoint, bucket, pathStyle }: S3Config): string {
  const { protocol, host, origin } = new URL(endpoint)
  return pathStyle ? origin : `${protocol}//${bucket}.${host}`
}
