import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { Outbox } from '../mail/outbox.ts'
import { createAccountAdministration } from './account-administration.ts'
import { createAccounts, notifyNearlyFull } from './accounts.ts'
import { createFileWarnings, createWarnedFiles, createWarningEnd } from './expiry-warnings.ts'
import { createKeyedRequests } from './keyed-requests.ts'
import { createKeys, createOwnKeys } from './keys.ts'
import { createMailAddresses } from './mail-addresses.ts'
import { createOneTimeLinks, oneTimeLinkCreator } from './one-time-links.ts'
import { createOwnAccount } from './own-account.ts'
import type { SignInModule } from './sign-in.module.ts'

export function createAccountsModule(
  core: Core,
  needs: {
    readonly files: Pick<FilesModule, 'inactivity'>
    readonly outbox: Outbox
    readonly signIn: Pick<SignInModule, 'reauthentication'>
  },
) {
  const { db, nonDurableDb, isShared, clock, random, rates, signing, config } = core
  const rate = { limit: config.rateLimit, factor: config.accountRateFactor }
  const {
    outbox,
    files: { inactivity },
    signIn: { reauthentication },
  } = needs
  const accounts = createAccounts(db, clock, random)
  const makeLink = oneTimeLinkCreator(clock, random)
  const warningEnd = createWarningEnd(db, signing)
  const warnedFiles = createWarnedFiles({ ...core, inactivity })
  const fileWarnings = createFileWarnings({ ...core, outbox, warningEnd, warnedFiles, inactivity })
  const jobs: readonly Job[] = [
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
  ]
  return {
    ...accounts,
    administration: createAccountAdministration(db, clock, makeLink),
    keys: createKeys(db, clock, random),
    /** Null where keys and rate windows are in memory. */
    keyedRequests: isShared ? createKeyedRequests({ db: nonDurableDb, rates, clock, rate }) : null,
    mailAddresses: createMailAddresses({ ...core, reauthentication, outbox, makeLink }),
    oneTimeLinks: createOneTimeLinks(db, clock, makeLink, config.signUp),
    own: createOwnAccount({ ...core, outbox, reauthentication }),
    ownKeys: createOwnKeys(db, rates, clock, random),
    warnedFiles,
    warningEnd,
    jobs,
  }
}

export type AccountsModule = ReturnType<typeof createAccountsModule>
