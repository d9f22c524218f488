import type { S3Config } from '../config/setting-groups.ts'
import type { Site } from '../server/call.ts'

export function contentOrigins({ config, publicUrl, contentUrl }: Site): string[] {
  const origins = [publicUrl, contentUrl].map((url) => new URL(url).origin)
  // The policy must also allow the target of a redirect.
  if (config.s3Redirect && config.s3 !== null) origins.push(storeOrigin(config.s3))
  return [...new Set(origins)]
}

function storeOrigin({ endpoint, bucket, pathStyle }: S3Config): string {
  const { protocol, host, origin } = new URL(endpoint)
  return pathStyle ? origin : `${protocol}//${bucket}.${host}`
}
