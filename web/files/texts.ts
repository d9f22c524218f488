import type { NearlyFullTexts } from '../shared/app/nearly-full.tsx'
import type { Plural } from '../shared/words.ts'
import type { Sort } from './list/listing.ts'

/** What the file manager says. */
export interface FilesTexts {
  /** The top level. */
  readonly top: string
  readonly folders: string
  readonly showFolders: string
  readonly path: string
  readonly list: string
  readonly search: string
  readonly results: Plural
  /** There are more results than are counted. */
  readonly moreResults: Plural
  readonly entries: Plural
  readonly selected: Plural
  readonly sortBy: string
  readonly sorts: Readonly<Record<Sort, string>>
  readonly order: Readonly<Record<'asc' | 'desc', string>>
  readonly look: string
  readonly looks: Readonly<Record<'list' | 'tiles', string>>
  readonly filesIn: Plural
  readonly private: string
  readonly locked: string
  /** Of a file. */
  readonly damaged: string
  /** {name} */
  readonly moreOf: string
  readonly empty: string
  readonly emptyWhy: string
  /** Where nothing can be dropped. */
  readonly emptyWhyByTouch: string
  readonly nothingFound: string
  readonly nothingFoundWhy: string
  readonly problems: {
    readonly network: string
    readonly networkWhy: string
    readonly offline: string
    readonly offlineWhy: string
    readonly signedOut: string
    readonly signedOutWhy: string
    /** Where what is shown stays. */
    readonly signedOutStays: string
    readonly signIn: string
    readonly missing: string
    readonly missingWhy: string
    readonly toTop: string
  }
  readonly actions: {
    readonly open: string
    readonly openPage: string
    readonly download: string
    readonly downloadZip: string
    readonly copyLink: Plural
    readonly share: string
    readonly rename: string
    readonly move: string
    readonly settings: string
    readonly remove: string
    readonly newFolder: string
    readonly upload: string
    readonly uploadMore: string
    readonly uploadFiles: string
    readonly uploadFolder: string
    readonly select: string
    readonly selectNone: string
    readonly more: string
    readonly moreActions: string
    readonly refresh: string
  }
  readonly dialogs: {
    readonly cancel: string
    readonly close: string
    readonly name: string
    readonly newFolder: string
    /** {name} */
    readonly rename: string
    readonly create: string
    readonly save: string
    readonly moveTo: Plural
    readonly moveHere: string
    /** {name} */
    readonly settingsOf: string
    readonly public: string
    readonly publicWhy: string
    readonly password: string
    readonly protections: Readonly<Record<'none' | 'kept' | 'new', string>>
    readonly newPassword: string
    readonly showPassword: string
    readonly noSlash: string
    /** It cannot be said whether it was done. */
    readonly notReached: string
    /** The same, where the browser knows that it has no network. */
    readonly offline: string
    /** {most} */
    readonly tooManyForZip: string
  }
  readonly share: {
    /** {name} */
    readonly title: string
    readonly titleOfSeveral: Plural
    readonly why: string
    readonly ends: string
    readonly days: Plural
    readonly endless: string
    readonly onDay: string
    readonly day: string
    readonly asking: string
    readonly askingShort: string
    readonly askingWhy: string
    readonly forName: string
    readonly forNameWhy: string
    readonly once: string
    readonly onceWhy: string
    readonly password: string
    readonly passwordWhy: string
    readonly linkPassword: string
    readonly more: string
    readonly maxDownloads: string
    readonly maxDownloadsWhy: string
    readonly maxFiles: string
    readonly anyNumber: string
    readonly maxFileSize: string
    readonly anySize: string
    readonly kinds: string
    readonly anyKind: string
    readonly kindNames: Readonly<Record<string, string>>
    readonly name: string
    readonly message: string
    readonly address: string
    readonly addressWhy: string
    readonly addressTaken: string
    readonly addressRefused: string
    readonly make: string
    /** {day} */
    readonly madeUntil: string
    readonly madeEndless: string
    readonly madeFor: Plural
    readonly passwordShown: string
    readonly copyPassword: string
    readonly done: string
    /** {most} */
    readonly tooMany: string
  }
  readonly storage: NearlyFullTexts & { readonly show: string }
  readonly links: {
    readonly title: string
    readonly emptyWhy: string
    /** Of a link, after all that it opened was deleted. */
    readonly nothingLeft: string
    /** {name} of one of them; counts the others. */
    readonly nameOfSeveral: Plural
    readonly received: Plural
    readonly downloads: Plural
    /** {taken} of {count}. */
    readonly downloadsOf: Plural
    readonly endless: string
    /** {day} */
    readonly until: string
    /** {day} */
    readonly ended: string
    readonly usedUp: string
    readonly full: string
    readonly empty: string
    readonly revoked: string
    readonly locked: string
    readonly details: string
    readonly came: string
    readonly nothingCame: string
    readonly onItsWay: string
    readonly happened: string
    /** By the kinds of events of links. */
    readonly events: Readonly<Record<string, string>>
    /** Several that are one event. */
    readonly manyDownloads: Plural
    /** {day} */
    readonly keptEnd: string
    readonly daysFromNow: Plural
    readonly revoke: string
    /** {name} */
    readonly ask: string
    readonly askWhy: string
    readonly more: string
  }
  readonly details: {
    readonly title: string
    readonly nothing: string
    readonly type: string
    readonly size: string
    readonly uploaded: string
    readonly created: string
    readonly views: string
    readonly downloads: string
    readonly expires: string
    readonly content: string
    readonly access: string
    readonly privateWhy: string
    readonly damagedWhy: string
    readonly technical: string
    /** When the server last read the stored bytes and found them sound. */
    readonly verified: string
    readonly unverified: string
  }
  readonly operations: {
    readonly list: string
    /** {place} */
    readonly moving: Plural
    /** {place} */
    readonly moved: Plural
    /** {place} */
    readonly movedBack: Plural
    readonly removing: Plural
    readonly removed: Plural
    readonly restoring: Plural
    readonly restored: Plural
    /** {done}, {total} */
    readonly waiting: string
    /** {done}, {total} */
    readonly waitingOffline: string
    /** {done}, {total} */
    readonly waitingSignedOut: string
    /** {name} */
    readonly failed: Plural
    readonly reasons: Readonly<Record<string, string>>
    /** {code} */
    readonly otherReason: string
    readonly undo: string
    readonly retry: string
    readonly close: string
  }
  readonly uploads: {
    readonly title: string
    readonly elsewhere: string
    readonly elsewhereWhy: string
    /** {received}, {size} */
    readonly progress: string
    readonly cancel: string
    readonly none: string
  }
  readonly bin: {
    readonly title: string
    readonly emptyWhy: string
    readonly restore: string
    readonly delete: string
    /** {name} */
    readonly askOne: string
    readonly keep: string
    readonly emptyBin: string
    readonly sure: string
    readonly sureWhy: string
    /** {day} */
    readonly until: string
    readonly more: string
    readonly returning: string
    /** {name} */
    readonly whereTo: string
    readonly restoreHere: string
  }
  readonly announced: {
    readonly copied: string
    readonly copiedPrivate: string
    readonly copyFailed: string
    /** {name} */
    readonly created: string
    /** {name} */
    readonly renaming: string
    /** {name} */
    readonly renamed: string
    /** {name} */
    readonly saved: string
  }
}
