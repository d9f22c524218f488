/** Most say `bot`, or that they make previews; the others are named. Cubot makes phones. */
const PREVIEWERS =
  /(?<!cu)bot\b|crawler|spider|preview|facebookexternalhit|whatsapp|slack-imgproxy|embedly|iframely|vkshare|google-pagerenderer|synapse/i

/** Whether a program or a prefetch makes the request, so no person gets the answer. */
export function isPreview({ headers }: Request): boolean {
  return (
    PREVIEWERS.test(headers.get('user-agent') ?? '') ||
    /prefetch|prerender/.test(headers.get('sec-purpose') ?? headers.get('purpose') ?? '')
  )
}
