/**
 * Programs that look at addresses in messages, to show what is behind them, and crawlers. Most say `bot`, or that they
 * make previews; the others are named. Cubot makes phones.
 */
const PREVIEWERS =
  /(?<!cu)bot\b|crawler|spider|preview|facebookexternalhit|whatsapp|slack-imgproxy|embedly|iframely|vkshare|google-pagerenderer|synapse/i

/** Whether the request is made for a preview, by a program or ahead of a visit: no person gets its answer. */
export function isPreview({ headers }: Request): boolean {
  return (
    PREVIEWERS.test(headers.get('user-agent') ?? '') ||
    /prefetch|prerender/.test(headers.get('sec-purpose') ?? headers.get('purpose') ?? '')
  )
}
