/** The guides of the site, `docs/guide/<name>.md`, in the order in which they are listed. */
export const GUIDES = ['api', 'sharex', 'rclone', 'tus-clients'] as const
export type GuideName = (typeof GUIDES)[number]

/** Null for what is no guide. */
export function parseGuideName(text: string): GuideName | null {
  return GUIDES.find((name) => name === text) ?? null
}
