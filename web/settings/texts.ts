import type { DownloadMails } from '../../src/domain/link-event.ts'
import type { StorageKind } from '../../src/domain/storage.ts'
import type { AppTexts } from '../shared/app/app-context.ts'
import type { NearlyFullTexts } from '../shared/app/nearly-full.tsx'
import type { StrengthTexts } from '../shared/strength.ts'
import type { Plural } from '../shared/words.ts'
import type { WebhooksTexts } from './webhooks/texts.ts'

/** What the settings say. */
export interface SettingsTexts {
  readonly common: CommonTexts
  readonly storage: StorageTexts
  readonly requests: RequestsTexts
  readonly keys: KeysTexts
  readonly newKey: NewKeyTexts
  readonly webhooks: WebhooksTexts
  readonly password: PasswordTexts
  readonly passkeys: PasskeysTexts
  readonly codes: CodesTexts
  readonly sessions: SessionsTexts
  readonly account: AccountTexts
  readonly mail: MailTexts
}

interface CommonTexts extends AppTexts {
  readonly presentPassword: string
  /** For who has none. */
  readonly noPassword: string
  readonly noFolders: string
}

interface StorageTexts {
  readonly title: string
  readonly room: NearlyFullTexts
  /** {used}, {limit} */
  readonly used: string
  /** {size} */
  readonly left: string
  readonly full: string
  readonly kinds: Readonly<Record<StorageKind | 'bin', string>>
  readonly byFolder: string
  readonly otherFolders: string
  readonly noFolder: string
  readonly empty: string
  readonly upload: string
}

interface RequestsTexts {
  readonly title: string
  readonly why: string
  readonly today: Plural
  readonly inAll: Plural
  readonly chart: string
  readonly day: string
  readonly requests: string
}

interface KeysTexts {
  readonly title: string
  readonly why: string
  readonly add: string
  readonly empty: string
  readonly scopes: Readonly<Record<'read' | 'upload' | 'manage', string>>
  readonly allFolders: string
  /** {folder} */
  readonly inFolder: string
  readonly folderGone: string
  /** {day} */
  readonly ends: string
  readonly ended: string
  readonly neverEnds: string
  /** {day} */
  readonly lastUsed: string
  readonly neverUsed: string
  readonly revoke: string
  /** {name} */
  readonly revokeOf: string
  readonly revokeWhy: string
  /** {name} */
  readonly revoked: string
}

interface NewKeyTexts {
  readonly title: string
  readonly name: string
  readonly nameHint: string
  readonly scopes: string
  readonly scopeWhys: Readonly<Record<'read' | 'upload' | 'manage', string>>
  readonly folder: string
  readonly folderHint: string
  readonly expires: string
  readonly never: string
  readonly days: Plural
  readonly onDay: string
  readonly day: string
  readonly create: string
  readonly made: string
  readonly madeWhy: string
  readonly key: string
  readonly examples: string
  readonly curl: string
  readonly program: string
  readonly programWhy: string
  readonly sharex: string
  readonly sharexWhy: string
  readonly sharexFile: string
  readonly done: string
}

interface PasswordTexts {
  readonly title: string
  readonly why: string
  readonly none: string
  readonly next: string
  readonly change: string
  readonly changed: string
  readonly strength: StrengthTexts
}

interface PasskeysTexts {
  readonly title: string
  readonly why: string
  readonly empty: string
  readonly add: string
  readonly name: string
  readonly nameHint: string
  readonly make: string
  readonly added: string
  /** {day} */
  readonly created: string
  readonly unnamed: string
  readonly renamed: string
  /** {name} */
  readonly renameOf: string
  readonly remove: string
  /** {name} */
  readonly removeOf: string
  readonly removeWhy: string
  readonly removed: string
  readonly unknown: string
  readonly failed: string
  readonly thereAlready: string
}

interface CodesTexts {
  readonly title: string
  readonly why: string
  readonly on: string
  readonly off: string
  readonly setUp: string
  readonly begin: string
  readonly scan: string
  readonly qrCode: string
  readonly secret: string
  readonly code: string
  readonly confirm: string
  readonly recovery: string
  readonly recoveryWhy: string
  readonly copyAll: string
  readonly download: string
  readonly kept: string
  readonly renew: string
  readonly renewWhy: string
  readonly turnOff: string
  readonly turnOffWhy: string
  readonly turnedOff: string
}

interface SessionsTexts {
  readonly title: string
  readonly why: string
  readonly here: string
  /** {day} */
  readonly since: string
  /** {day} */
  readonly lastUsed: string
  /** {browser}, {system} */
  readonly on: string
  readonly unknown: string
  readonly end: string
  /** {name} */
  readonly endOf: string
  readonly ended: string
  readonly endOthers: string
  readonly endedOthers: Plural
}

interface MailTexts {
  readonly title: string
  readonly why: string
  readonly none: string
  /** {address} */
  readonly present: string
  /** {address} */
  readonly waits: string
  readonly address: string
  readonly send: string
  /** {address} */
  readonly sent: string
  readonly warnings: string
  readonly warningsWhy: string
  readonly downloads: string
  readonly downloadMails: Readonly<Record<DownloadMails, string>>
  readonly remove: string
  readonly removeWhy: string
  readonly removed: string
}

interface AccountTexts {
  readonly name: string
  readonly nameWhy: string
  readonly username: string
  readonly usernameHint: string
  readonly change: string
  /** {name} */
  readonly changed: string
  readonly remove: string
  readonly removeWhy: string
  readonly removeButton: string
  readonly removeTitle: string
  /** {files}, {size} */
  readonly removeSure: string
  readonly files: Plural
  /** {name} */
  readonly typeName: string
  readonly removeForGood: string
}
