/** Content of a mail, before it is worded. `path`: a path on this site, whose secret part works once. */
export type MailContent =
  | { readonly kind: 'verify' | 'reset'; readonly username: string; readonly path: string }
  | {
      readonly kind: 'password changed' | 'address changed' | 'address removed'
      readonly username: string
    }
  | FilesGoing
  | FilesDamaged
  | LinkNews
  | WebhookDisabled
  | ContentsDamaged
  | BackupEnded
  | BackupFailed

/** Warning that files will be deleted unless somebody opens them. */
export interface FilesGoing {
  readonly kind: 'files going'
  readonly username: string
  /** Names of the files that are deleted first. */
  readonly names: readonly string[]
  /** Number of further files. */
  readonly more: number
  /** Deletion time of the first file. */
  readonly goAt: number
  /** Days for which an unused file is kept. */
  readonly days: number
  /** Path of the link that keeps all of them. */
  readonly keepPath: string
  /** Path of the link that ends such mails. */
  readonly unsubscribePath: string
}

/** To an owner: stored bytes of files are damaged. */
export interface FilesDamaged {
  readonly kind: 'files damaged'
  readonly username: string
  readonly names: readonly string[]
  /** Number of further files. */
  readonly more: number
  readonly unsubscribePath: string
}

/** To an owner: what happened to their links, or that their storage is nearly full. */
export interface LinkNews {
  readonly kind: 'link news'
  readonly username: string
  /** By link, from the one of the first event on. */
  readonly news: readonly LinkNewsItem[]
  /** Number of further ones. */
  readonly more: number
  readonly unsubscribePath: string
}

/** `title`: name of the link, or of something that it opens or fills. */
export type LinkNewsItem =
  | ReceivedFiles
  | DownloadedNews
  | { readonly kind: 'used up' | 'full'; readonly title: string }
  | { readonly kind: 'ends soon' | 'ended'; readonly title: string; readonly at: number }
  | { readonly kind: 'nearly full'; readonly bytes: number }

export interface DownloadedNews {
  readonly kind: 'downloaded'
  readonly title: string
  readonly times: number
  /** Whether the first download of the link is among them. */
  readonly isFirst: boolean
}

export interface ReceivedFiles {
  readonly kind: 'received'
  readonly title: string
  readonly count: number
  /** The first ones. `sender`: who they say they are; null where they were not asked. */
  readonly files: readonly { readonly name: string; readonly sender: string | null }[]
}

/** To an owner: the server sends nothing more to one of their webhooks. */
export interface WebhookDisabled {
  readonly kind: 'webhook disabled'
  readonly username: string
  readonly url: string
  /** Whether its receiver has said that it is gone; otherwise nothing has succeeded for a day. */
  readonly isGone: boolean
  readonly unsubscribePath: string
}

/** To an administrator: contents were found damaged. */
export interface ContentsDamaged {
  readonly kind: 'contents damaged'
  readonly username: string
  readonly contents: number
  /** Some files that have them; null: a guest's. */
  readonly files: readonly { readonly name: string; readonly owner: string | null }[]
  /** Number of further files. */
  readonly more: number
  readonly unsubscribePath: string
}

/** To an administrator: a backup of the server's own lacks contents, or a rehearsal of a restore has ended. */
export interface BackupEnded {
  readonly kind: 'backup ended' | 'drill ended'
  readonly username: string
  /** Folder or bucket of the backup. */
  readonly place: string
  /** The moment that it holds. */
  readonly takenAt: number
  /** Files of the backup; of a drill those that were read back. */
  readonly files: number
  readonly bytes: number
  /** Contents that the backup lacks; 0 for a good drill. */
  readonly wrong: number
  readonly unsubscribePath: string
}

/** To an administrator: one of them could not be done. */
export interface BackupFailed {
  readonly kind: 'backup failed' | 'drill failed'
  readonly username: string
  readonly place: string
  /** In English. */
  readonly reason: string
  /** The moment that the last one has that could; null for none. */
  readonly lastAt: number | null
  readonly unsubscribePath: string
}
