import type { JobState, StatisticsOutage } from '../../src/contract/operations.ts'
import type { AccountSort, AccountState, AllFilesSort } from '../../src/domain/administration.ts'
import type { Act } from '../../src/domain/audit.ts'
import type { NoticeLevel } from '../../src/domain/notice.ts'
import type { ReportState } from '../../src/domain/report.ts'
import type { AppTexts } from '../shared/app/app-context.ts'
import type { Plural } from '../shared/words.ts'
import type { DoctorTexts } from './doctor-texts.ts'
import type { IntegrityTexts } from './integrity/texts.ts'
import type { Translations } from './translated.tsx'

/** What administration says. */
export interface AdminTexts {
  readonly common: CommonTexts
  readonly overview: OverviewTexts
  readonly accounts: AccountsTexts
  readonly account: AccountTexts
  readonly link: LinkTexts
  readonly reports: ReportsTexts
  readonly takeDown: TakeDownTexts
  readonly refused: RefusedTexts
  readonly files: FilesTexts
  readonly integrity: IntegrityTexts
  readonly jobs: JobsTexts
  readonly notice: NoticeTexts
  readonly settings: SettingsTexts
  readonly doctor: DoctorTexts
  readonly audit: AuditTexts
}

interface CommonTexts extends AppTexts {
  /** The links through a list. */
  readonly pages: string
  readonly previous: string
  readonly next: string
  /** {page}, {pages} */
  readonly pageOf: string
  readonly files: Plural
  readonly guest: string
  readonly show: string
}

interface OverviewTexts {
  readonly title: string
  readonly accounts: string
  readonly files: string
  /** {files}, {size} */
  readonly guests: string
  readonly stored: string
  /** {reserved}, {bins} */
  readonly storedBesides: string
  readonly free: string
  readonly reports: string
  readonly jobs: string
  /** {count} */
  readonly damaged: Plural
  readonly whichDamaged: string
  readonly requests: string
  readonly outages: string
  readonly outagesWhy: string
  /** {from}, {to} */
  readonly outageCauses: Readonly<Record<StatisticsOutage['cause'], string>>
  readonly time: string
  readonly timeWhy: string
  readonly span: Plural
  readonly day: string
  readonly requestsChart: string
  readonly requestsSeries: string
  readonly trafficChart: string
  readonly bytesOut: string
  readonly bytesIn: string
  readonly transfersChart: string
  readonly downloads: string
  readonly uploads: string
  readonly storageChart: string
  readonly storageSeries: string
  readonly filesChart: string
  readonly accountsChart: string
}

interface AccountsTexts {
  readonly title: string
  readonly invite: string
  readonly inviteWhy: string
  readonly invited: string
  readonly search: string
  readonly state: string
  readonly states: Readonly<Record<AccountState, string>>
  readonly sort: string
  readonly sorts: Readonly<Record<AccountSort, string>>
  readonly empty: string
  readonly administrator: string
  readonly disabled: string
  /** {used}, {limit} */
  readonly storage: string
  /** {day} */
  readonly since: string
}

interface AccountTexts {
  readonly all: string
  readonly facts: string
  readonly created: string
  readonly lastSeen: string
  readonly never: string
  readonly signsIn: string
  readonly password: string
  readonly codes: string
  readonly mail: string
  readonly passkeys: Plural
  readonly noWay: string
  readonly sessions: string
  readonly keys: string
  readonly requests: string
  readonly files: string
  readonly folders: string
  readonly stored: string
  readonly inBin: string
  readonly quota: string
  readonly quotaWhy: string
  readonly quotaField: string
  readonly quotaHint: string
  readonly quotaWrong: string
  readonly quotaSaved: string
  readonly access: string
  readonly accessWhy: string
  readonly disable: string
  /** {name} in what follows. */
  readonly disableOf: string
  readonly disableWhy: string
  readonly disabled: string
  readonly enable: string
  readonly enableOf: string
  readonly enableWhy: string
  readonly enabled: string
  readonly administration: string
  readonly administrationWhy: string
  readonly makeAdmin: string
  readonly makeAdminOf: string
  readonly makeAdminWhy: string
  readonly madeAdmin: string
  readonly unmakeAdmin: string
  readonly unmakeAdminOf: string
  readonly unmakeAdminWhy: string
  readonly unmadeAdmin: string
  readonly reset: string
  readonly resetWhy: string
  readonly resetButton: string
  readonly resetOf: string
  readonly resetSure: string
  readonly secondFactor: string
  readonly mailAddress: string
  readonly resetDone: string
  readonly remove: string
  readonly removeWhy: string
  readonly removeButton: string
  readonly removeOf: string
  /** {files}, {size} */
  readonly removeSure: string
  readonly typeName: string
  readonly removeForGood: string
}

interface LinkTexts {
  readonly label: string
  readonly once: string
  /** {time} */
  readonly ends: string
  readonly done: string
}

interface ReportsTexts {
  readonly title: string
  readonly why: string
  readonly which: Readonly<Record<'open' | 'closed' | 'all', string>>
  readonly choose: string
  readonly empty: string
  readonly states: Readonly<Record<ReportState, string>>
  readonly gone: string
  /** {time} */
  readonly at: string
  readonly dismiss: string
  /** {name} */
  readonly dismissOf: string
  readonly dismissed: string
}

interface TakeDownTexts {
  readonly verb: string
  /** {name} */
  readonly of: string
  readonly why: string
  /** `{count}` files. */
  readonly done: Plural
}

interface RefusedTexts {
  readonly title: string
  readonly why: string
  readonly empty: string
  /** {time} */
  readonly since: string
  readonly allow: string
  /** {hash} */
  readonly allowOf: string
  readonly allowWhy: string
  readonly allowed: string
  readonly add: string
  readonly field: string
  readonly fieldHint: string
  readonly fieldWrong: string
}

interface FilesTexts {
  readonly title: string
  readonly choose: string
  readonly sorts: Readonly<Record<AllFilesSort, string>>
  readonly empty: string
  readonly views: Plural
  readonly downloads: Plural
}

interface JobsTexts {
  readonly title: string
  readonly names: Translations
  readonly why: string
  readonly empty: string
  /** What is neither waits, which most do. */
  readonly states: Readonly<Record<Exclude<JobState, 'waiting'>, string>>
  /** {time} */
  readonly ended: string
  readonly neverEnded: string
  readonly failures: Plural
  /** {time} */
  readonly failedAt: string
  /** {node} */
  readonly onNode: string
  readonly retry: string
  /** {name} */
  readonly retryOf: string
  readonly retried: string
  readonly thumbnails: Plural
  readonly nodes: string
  readonly nodesWhy: string
  readonly thisNode: string
  /** {time} */
  readonly nodeSince: string
}

interface NoticeTexts {
  readonly title: string
  readonly why: string
  readonly text: string
  readonly level: string
  readonly levels: Readonly<Record<NoticeLevel, string>>
  readonly from: string
  readonly fromHint: string
  readonly until: string
  readonly untilHint: string
  readonly set: string
  readonly done: string
  readonly none: string
  readonly shown: string
  /** {time} */
  readonly later: string
  readonly over: string
  readonly clear: string
  readonly cleared: string
}

interface SettingsTexts {
  readonly title: string
  /** By variables. */
  readonly descriptions: Translations
  readonly why: string
  readonly set: string
  readonly empty: string
  readonly secret: string
}

interface AuditTexts {
  readonly title: string
  readonly why: string
  readonly act: string
  readonly all: string
  readonly empty: string
  readonly commandLine: string
  readonly acts: Readonly<Record<Act, string>>
}
