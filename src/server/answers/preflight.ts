/**
 * Request headers that scripts of other sites may send: any. A star does not stand for Authorization, and older browsers
 * take it for a name.
 */
const ALLOWED_HEADERS = [
  '*',
  'Authorization',
  'Cache-Control',
  'Content-Type',
  'Range',
  'If-Range',
  'X-Folder-ID',
  'Idempotency-Key',
  'X-HTTP-Method-Override',
  'X-Request-ID',
  'X-Requested-With',
  'Tus-Resumable',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Checksum',
  'Upload-Concat',
  'Holdfast-Parts',
  'Holdfast-Before',
  'Holdfast-Account',
].join(', ')

/** Response headers that scripts of other sites may read. */
export const EXPOSED_HEADERS = [
  'Content-Length',
  'Content-Range',
  'Accept-Ranges',
  'ETag',
  'Repr-Digest',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  'Location',
  'Holdfast-Before',
  'Holdfast-Receipt',
  'Holdfast-Slug',
  'Holdfast-Url',
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Checksum-Algorithm',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Expires',
  'Upload-Concat',
].join(', ')

/** Response to OPTIONS. */
export function preflight(allowed: readonly string[]): Response {
  return new Response(null, {
    status: 204,
    headers: {
      Allow: allowed.join(', '),
      'Access-Control-Allow-Methods': allowed.join(', '),
      'Access-Control-Allow-Headers': ALLOWED_HEADERS,
      'Access-Control-Max-Age': '86400',
    },
  })
}
