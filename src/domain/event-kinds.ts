/** `link.first_download` replaces the first `link.downloaded`. */
export const LINK_EVENT_KINDS = [
  'link.arrived',
  'link.first_download',
  'link.downloaded',
  'link.ends_soon',
  'link.ended',
] as const

export type LinkEventKind = (typeof LINK_EVENT_KINDS)[number]

export const EVENT_KINDS = [...LINK_EVENT_KINDS, 'storage.nearly_full'] as const

export type EventKind = (typeof EVENT_KINDS)[number]

/** `webhook.test`: sent by hand to one webhook. */
export const STORED_EVENT_KINDS = [...EVENT_KINDS, 'webhook.test'] as const

export type StoredEventKind = (typeof STORED_EVENT_KINDS)[number]

/** `full`: an upload link with all the files it takes. */
export const END_REASONS = ['time', 'downloads', 'full', 'revoked'] as const

export type EndReason = (typeof END_REASONS)[number]

/** What a link's owner was notified of: nothing, its coming end, its end. */
export const END_PENDING = 0
export const END_SOON_NOTIFIED = 1
export const END_NOTIFIED = 2

export type EndNotified = typeof END_PENDING | typeof END_SOON_NOTIFIED | typeof END_NOTIFIED

export const DOWNLOAD_MAILS = ['none', 'first', 'every'] as const

export type DownloadMails = (typeof DOWNLOAD_MAILS)[number]

/** `id`: null for an archive. */
export interface EventFile<Id> {
  readonly id: Id | null
  readonly name: string
}

/** `bin`: an entry was binned, restored or deleted from the bin. */
export const changeKinds = [
  'file.added',
  'file.changed',
  'file.moved',
  'file.removed',
  'folder.added',
  'folder.changed',
  'folder.moved',
  'folder.removed',
  'bin',
] as const

export type ChangeKind = (typeof changeKinds)[number]

/** `link`: an event of a link or of the account. */
export type StoredChangeKind = ChangeKind | 'link'
