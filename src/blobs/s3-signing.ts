import { AwsV4Signer } from 'aws4fetch'

export interface S3Settings {
  /** `https://host[:port]`. */
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly pathStyle: boolean
}

export interface SignedParts {
  readonly method: string
  readonly object?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

/** AWS Signature Version 4. */
export interface S3Signing {
  sign(request: SignedParts): Promise<{ readonly url: string; readonly headers: Headers }>
  presign(object: string, query: Readonly<Record<string, string>>, seconds: number): Promise<string>
}

export function s3Signing(settings: S3Settings): S3Signing {
  const { accessKeyId, secretAccessKey, region } = settings
  const credentials = { accessKeyId, secretAccessKey, region, service: 's3' }
  const keys = signingKeys(secretAccessKey, region)
  return {
    async sign({ method, object, query, headers }) {
      const { href } = address(settings, object, query)
      // A signed Content-MD5 covers the body; its unknown SHA-256 would be another pass over every byte.
      const asked = { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD', ...headers }
      const signed = await new Signer(keys, { ...credentials, method, url: href, headers: asked }).sign()
      // Proxies may change this header, so it is not signed.
      signed.headers.set('Accept-Encoding', 'identity')
      return { url: signed.url.href, headers: signed.headers }
    },

    async presign(object, query, seconds) {
      const { href } = address(settings, object, { ...query, 'X-Amz-Expires': String(seconds) })
      const asked = { ...credentials, method: 'GET', url: href, signQuery: true }
      const signed = await new Signer(keys, asked).sign()
      // Only forms encode a space as a plus; not every store decodes it in addresses.
      return signed.url.href.replaceAll('+', '%20')
    },
  }
}

/** `day` such as 20260131. */
type SigningKeys = (day: string) => Uint8Array

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function signingKeys(secret: string, region: string): SigningKeys {
  let known: { readonly day: string; readonly key: Uint8Array } = { day: '', key: new Uint8Array() }
  return (day) => {
    if (known.day !== day) {
      const parts = [day, region, 's3', 'aws4_request']
      known = { day, key: parts.reduce<Uint8Array>(hmac, Buffer.from(`AWS4${secret}`)) }
    }
    return known.key
  }
}

/**
 * Synchronous hashing: 0.09 ms a request instead of aws4fetch's 0.19 with Web Crypto (0.015 instead of 0.05 under
 * load).
 */
class Signer extends AwsV4Signer {
  readonly #keys: SigningKeys

  constructor(keys: SigningKeys, request: ConstructorParameters<typeof AwsV4Signer>[0]) {
    super(request)
    this.#keys = keys
  }

  override async signature(): Promise<string> {
    const key = this.#keys(this.datetime.slice(0, 'YYYYMMDD'.length))
    return Buffer.from(hmac(key, await this.stringToSign())).toString('hex')
  }

  override async stringToSign(): Promise<string> {
    const hash = Bun.SHA256.hash(await this.canonicalString(), 'hex')
    return ['AWS4-HMAC-SHA256', this.datetime, this.credentialString, hash].join('\n')
  }
}

function hmac(key: Uint8Array, text: string): Uint8Array {
  return new Bun.CryptoHasher('sha256', key).update(text).digest()
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
