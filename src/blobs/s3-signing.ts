import { AwsV4Signer } from 'aws4fetch'

export interface S3Settings {
  /** `https://host[:port]` of the service. */
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Whether the bucket is named in the path instead of in the host name. */
  readonly pathStyle: boolean
}

/** The parts of a request that are signed. */
export interface SignedParts {
  readonly method: string
  readonly object?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

/** Signs requests to one bucket (AWS Signature Version 4). */
export interface S3Signing {
  sign(request: SignedParts): Promise<{ readonly url: string; readonly headers: Headers }>
  /** A signed address, valid for so many seconds. */
  presign(object: string, query: Readonly<Record<string, string>>, seconds: number): Promise<string>
}

export function s3Signing(settings: S3Settings): S3Signing {
  const { accessKeyId, secretAccessKey, region } = settings
  const cache = new Map<string, ArrayBuffer>()
  const credentials = { accessKeyId, secretAccessKey, region, service: 's3', cache }
  return {
    async sign({ method, object, query, headers }) {
      const { href } = address(settings, object, query)
      // The signed Content-MD5 covers the body. A SHA-256 would be another pass over every byte.
      const unsigned = { ...headers, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' }
      const signed = await new AwsV4Signer({ ...credentials, method, url: href, headers: unsigned }).sign()
      // Proxies may change this header, so it is not signed.
      signed.headers.set('Accept-Encoding', 'identity')
      return { url: signed.url.href, headers: signed.headers }
    },

    async presign(object, query, seconds) {
      const { href } = address(settings, object, { ...query, 'X-Amz-Expires': String(seconds) })
      const signed = await new AwsV4Signer({
        ...credentials,
        method: 'GET',
        url: href,
        signQuery: true,
      }).sign()
      // Only forms encode a space as a plus; not every store decodes it in addresses.
      return signed.url.href.replaceAll('+', '%20')
    },
  }
}

function address(
  { endpoint, bucket, pathStyle }: S3Settings,
  object = '',
  query: Readonly<Record<string, string>> = {},
): URL {
  const url = new URL(endpoint)
  const base = url.pathname.replace(/\/+$/, '')
  if (pathStyle) url.pathname = `${base}/${bucket}${object === '' ? '' : `/${object}`}`
  else {
    url.hostname = `${bucket}.${url.hostname}`
    url.pathname = `${base}/${object}`
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}
