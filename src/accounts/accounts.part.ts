import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import type { FilesPart } from '../files/files.part.ts'
import type { MailPart } from '../mail/mail.part.ts'
import { type AccountAdministration, createAccountAdministration } from './account-administration.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import { createWarningEnd, type WarningEnd } from './expiry-warning-end.ts'
import { createFileWarnings } from './expiry-warnings.job.ts'
import { createKeyedRequests, type KeyedRequests } from './keys/keyed-requests.ts'
import { createKeys, type Keys } from './keys/keys.ts'
import { createOwnKeys, type OwnKeys } from './keys/own-keys.ts'
import { createMailAddresses, type MailAddresses } from './mail-addresses.ts'
import { notifyNearlyFull } from './nearly-full.job.ts'
import { createOneTimeLinks, type OneTimeLinks, oneTimeLinkCreator } from './one-time-links.ts'
import { createOwnAccount, type OwnAccount } from './own-account.ts'
import type { SignInPart } from './sign-in.part.ts'
import { createWarnedFiles, type WarnedFiles } from './warned-files.ts'

export interface AccountsPart extends Accounts {
  readonly administration: AccountAdministration
  readonly keys: Keys
  /** Null where keys and rate windows are in memory. */
  readonly keyedRequests: KeyedRequests | null
  readonly mailAddresses: MailAddresses
  readonly oneTimeLinks: OneTimeLinks
  readonly own: OwnAccount
  readonly ownKeys: OwnKeys
  readonly warnedFiles: WarnedFiles
  readonly warningEnd: WarningEnd
  readonly jobs: readonly Job[]
}

export function createAccountsPart(
  core: Core,
  needs: {
    readonly files: Pick<FilesPart, 'inactivity'>
    readonly mail: Pick<MailPart, 'outbox'>
    readonly signIn: Pick<SignInPart, 'reauthentication'>
  },
): AccountsPart {
  const { db, nonDurableDb, isShared, clock, random, rates, signing, config } = core
  const rate = { limit: config.rateLimit, factor: config.accountRateFactor }
  const { outbox } = needs.mail
  const { reauthentication } = needs.signIn
  const { inactivity } = needs.files
  const accounts = createAccounts(db, clock, random)
  const makeLink = oneTimeLinkCreator(clock, random)
  const warningEnd = createWarningEnd(db, signing)
  const warnedFiles = createWarnedFiles({ ...core, inactivity })
  const fileWarnings = createFileWarnings({ ...core, outbox, warningEnd, warnedFiles, inactivity })
  return {
    ...accounts,
    administration: createAccountAdministration(db, clock, makeLink),
    keys: createKeys(db, clock, random),
    keyedRequests: isShared ? createKeyedRequests({ db: nonDurableDb, rates, clock, rate }) : null,
    mailAddresses: createMailAddresses({ ...core, reauthentication, outbox, makeLink }),
    oneTimeLinks: createOneTimeLinks(db, clock, makeLink, config.signUp),
    own: createOwnAccount({ ...core, outbox, reauthentication }),
    ownKeys: createOwnKeys(db, rates, clock, random),
    warnedFiles,
    warningEnd,
    jobs: [
      {
        name: 'keep warned files',
        on: 'one node',
        every: 10 * SECOND,
        hasWork: warnedFiles.isAnyLeft,
        run: warnedFiles.keepRest,
      },
      { name: 'warn of unused files', on: 'one node', every: HOUR, run: fileWarnings.warn },
      {
        name: 'tell of storage that is nearly full',
        on: 'one node',
        every: 5 * MINUTE,
        run: (mayGoOn) => notifyNearlyFull(db, clock, config.storageLimit, mayGoOn),
      },
      { name: 'forget removed accounts', on: 'one node', every: MINUTE, run: accounts.dropRemoved },
    ],
  }
}
