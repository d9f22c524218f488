/** `path`: on this site; its secret works once. */
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

export interface FilesGoing {
  readonly kind: 'files going'
  readonly username: string
  readonly names: readonly string[]
  readonly more: number
  readonly goAt: number
  readonly days: number
  readonly keepPath: string
  readonly unsubscribePath: string
}

export interface FilesDamaged {
  readonly kind: 'files damaged'
  readonly username: string
  readonly names: readonly string[]
  readonly more: number
  readonly unsubscribePath: string
}

export interface LinkNews {
  readonly kind: 'link news'
  readonly username: string
  /** In order of each link's first event. */
  readonly news: readonly LinkNewsItem[]
  readonly more: number
  readonly unsubscribePath: string
}

/** `title`: the link's name, or that of a target. */
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
  readonly isFirst: boolean
}

export interface ReceivedFiles {
  readonly kind: 'received'
  readonly title: string
  readonly count: number
  /** The first ones. `sender`: as stated; null if not asked. */
  readonly files: readonly { readonly name: string; readonly sender: string | null }[]
}

export interface WebhookDisabled {
  readonly kind: 'webhook disabled'
  readonly username: string
  readonly url: string
  /** The receiver said it is gone; otherwise a day of failures. */
  readonly isGone: boolean
  readonly unsubscribePath: string
}

/** To an administrator. */
export interface ContentsDamaged {
  readonly kind: 'contents damaged'
  readonly username: string
  readonly contents: number
  /** `owner`: null for a guest. */
  readonly files: readonly { readonly name: string; readonly owner: string | null }[]
  readonly more: number
  readonly unsubscribePath: string
}

/** To an administrator: a backup lacks contents, or a test restore has ended. */
export interface BackupEnded {
  readonly kind: 'backup ended' | 'drill ended'
  readonly username: string
  readonly place: string
  readonly takenAt: number
  /** In the backup; for a drill, files read back. */
  readonly files: number
  readonly bytes: number
  /** Missing contents; 0 for a good drill. */
  readonly wrong: number
  readonly unsubscribePath: string
}

/** To an administrator. */
export interface BackupFailed {
  readonly kind: 'backup failed' | 'drill failed'
  readonly username: string
  readonly place: string
  readonly reason: string
  /** Moment of the last success; null for none. */
  readonly lastAt: number | null
  readonly unsubscribePath: string
}
