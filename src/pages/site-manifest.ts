import { logoPath, PRODUCT, type ShownBranding } from '../domain/branding.ts'

/** The web app manifest of a site with a face of its own; null where the one in `web/static` is right. */
export function manifestOf({ name, accent, logo }: ShownBranding): Response | null {
  if (name === PRODUCT && accent === null && logo === null) return null
  const manifest = {
    name,
    start_url: '/',
    display: 'browser',
    background_color: '#f6f9f9',
    theme_color: accent ?? '#0f766e',
    icons:
      logo === null
        ? [192, 512].map((size) => ({
            src: `/icon-${size}.png`,
            sizes: `${size}x${size}`,
            type: 'image/png',
          }))
        : [{ src: logoPath(logo), sizes: `${logo.width}x${logo.height}`, type: 'image/webp' }],
  }
  const text = JSON.stringify(manifest)
  return new Response(text, {
    headers: {
      'Content-Type': 'application/manifest+json',
      'Content-Length': String(Buffer.byteLength(text)),
      'Cache-Control': 'no-cache',
    },
  })
}
