/** What happened to a link. `link.first_download` takes the place of its first `link.downloaded`. */
export const LINK_EVENT_KINDS = [
  'link.arrived',
  'link.first_download',
  'link.downloaded',
  'link.ends_soon',
  'link.ended',
] as const

export type LinkEventKind = (typeof LINK_EVENT_KINDS)[number]

/** What owners are told of. */
export const EVENT_KINDS = [...LINK_EVENT_KINDS, 'storage.nearly_full'] as const

export type EventKind = (typeof EVENT_KINDS)[number]

/** `webhook.test`: sent to one webhook by hand. */
export const STORED_EVENT_KINDS = [...EVENT_KINDS, 'webhook.test'] as const

export type StoredEventKind = (typeof STORED_EVENT_KINDS)[number]

/** Why a link ended. `full`: it asked for files, and all that it takes have come. */
export const END_REASONS = ['time', 'downloads', 'full', 'revoked'] as const

export type EndReason = (typeof END_REASONS)[number]

/** How much of its end a link's owner was told: nothing, that it comes, or that it came. */
export const END_UNTOLD = 0
export const END_SOON_TOLD = 1
export const END_TOLD = 2

export type EndTold = typeof END_UNTOLD | typeof END_SOON_TOLD | typeof END_TOLD

/** Which downloads by their links owners are told of by mail: `first` is the first one of each link. */
export const DOWNLOAD_MAILS = ['none', 'first', 'every'] as const

export type DownloadMails = (typeof DOWNLOAD_MAILS)[number]

/** What an event is about. `id`: null for an archive. */
export interface EventFile<Id> {
  readonly id: Id | null
  readonly name: string
}
