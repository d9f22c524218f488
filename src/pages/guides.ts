/** `docs/guide/<name>.md`, in the order of the list. */
export const GUIDES = ['api', 'webhooks', 'sharex', 'rclone', 'tus-clients'] as const
export type GuideName = (typeof GUIDES)[number]

export function parseGuideName(text: string): GuideName | null {
  return GUIDES.find((name) => name === text) ?? null
}
