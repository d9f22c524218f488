import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { EndableMails } from '../mail/outbox.ts'
import { createAccess, createWaysUp } from './access.ts'
import { createFolderPasswords } from './folder-passwords.ts'
import { createLinkAccess, createLinkContributors, createLinkNames } from './links/link-access.ts'
import { mailLinkNews, notifyDownloads, notifyLinkEnds } from './links/link-notifications.job.ts'
import { createLinkClaims } from './links/link-slots.ts'
import { createGuestLinks, createLinks } from './links/links.ts'
import { createPublicFolders } from './public-folders.ts'
import { createReporting, createReports } from './reports.ts'
import { createTakeDowns } from './take-downs.ts'
import { createTransfers } from './transfers.ts'

export type SharingModule = ReturnType<typeof createSharingModule>

export function createSharingModule(
  core: Core,
  mails: EndableMails,
  { removeGarbage }: Pick<FilesModule, 'removeGarbage'>,
) {
  const { config, db, rates, signing, clock, random, failed } = core
  const transfers = createTransfers(core)
  const access = createAccess(db, signing, clock)
  const reports = createReports(db, clock)
  const folderPasswords = createFolderPasswords(rates, signing, clock, random)
  const linkClaims = createLinkClaims(db, clock, {
    keepsAddresses: config.linkAddresses,
    failed: failed('the end of a download by a link could not be counted'),
  })
  const links = createLinks(db, rates, clock, random)
  const takeDowns = createTakeDowns(db, clock, failed('a content could not be taken down'), () =>
    removeGarbage().catch(failed('the bytes of a content that was taken down could not be removed')),
  )
  return {
    access,
    folderPasswords,
    guestLinks: createGuestLinks(db, rates, links),
    linkAccess: createLinkAccess({ db, signing, clock, random }, folderPasswords, linkClaims),
    linkClaims,
    linkContributors: createLinkContributors(db, folderPasswords, signing, clock),
    linkNames: createLinkNames(signing),
    links,
    publicFolders: createPublicFolders(db, access),
    reporting: createReporting(db, rates, signing, clock),
    reports,
    takeDowns,
    transfers,
    waysUp: createWaysUp(db, signing),
    jobs: [
      {
        name: 'go on with taking down',
        on: 'one node',
        every: 10 * SECOND,
        hasWork: takeDowns.hasWork,
        run: takeDowns.run,
      },
      { name: 'forget old reports', on: 'one node', every: HOUR, run: reports.forgetOld },
      { name: 'write downloads by links', on: 'every node', every: SECOND, run: linkClaims.flush },
      { name: 'count old downloads by links', on: 'one node', every: HOUR, run: linkClaims.countOld },
      {
        name: 'tell of ends of links',
        on: 'one node',
        every: MINUTE,
        run: (mayGoOn) => notifyLinkEnds(db, clock, mayGoOn),
      },
      {
        name: 'tell of many downloads',
        on: 'one node',
        every: MINUTE,
        run: (mayGoOn) => notifyDownloads(db, clock, mayGoOn),
      },
      {
        name: 'tell of what happened to links',
        on: 'one node',
        every: MINUTE,
        run: (mayGoOn) => mailLinkNews(db, clock, mails, mayGoOn),
      },
      { name: 'end empty transfers', on: 'one node', every: MINUTE, run: transfers.endEmpty },
      { name: 'forget old links', on: 'one node', every: HOUR, run: links.forgetOld },
    ] satisfies Job[],
  }
}
