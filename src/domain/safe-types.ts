/**
 * Safe inline under `nosniff` and `Content-Security-Policy: sandbox; default-src 'none'`: raster images, audio, video,
 * plain text. All else is an attachment, above all what carries script: HTML, SVG, XML, JavaScript. PDF too: browsers
 * refuse it in a sandbox.
 */
const INLINE: ReadonlySet<string> = new Set([
  'audio/aac',
  'audio/flac',
  'audio/mp4',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'audio/webm',
  'image/apng',
  'image/avif',
  'image/bmp',
  'image/gif',
  'image/heic',
  'image/heif',
  'image/jpeg',
  'image/jxl',
  'image/png',
  'image/tiff',
  'image/vnd.microsoft.icon',
  'image/webp',
  'image/x-icon',
  'text/plain',
  'video/3gpp',
  'video/mp2t',
  'video/mp4',
  'video/mpeg',
  'video/ogg',
  'video/quicktime',
  'video/webm',
  'video/x-m4v',
  'video/x-matroska',
])

/** `type`: lower case, no parameters. */
export function isInlineSafe(type: string): boolean {
  return INLINE.has(type)
}
