import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import type { FilesPart } from '../files/files.part.ts'
import type { EndableMails } from '../mail/outbox.ts'
import { type AccessControl, createAccess } from './access.ts'
import { createFolderPasswords, type FolderPasswords } from './folder-passwords.ts'
import { createGuestLinks, type GuestLinks } from './links/guest-links.ts'
import { createLinkAccess, type LinkAccess } from './links/link-access.ts'
import { createLinkClaims, type LinkClaims } from './links/link-claims.ts'
import { createLinkContributors, type LinkContributors } from './links/link-contributors.ts'
import { notifyDownloads, notifyLinkEnds } from './links/link-ends.job.ts'
import { mailLinkNews } from './links/link-news.job.ts'
import { createLinkNames, type LinkNames } from './links/link-paths.ts'
import { createLinks, type Links } from './links/links.ts'
import { createPublicFolders, type PublicFolders } from './public-folders.ts'
import { createReporting, createReports, type Reporting, type Reports } from './reports.ts'
import { createTakeDowns, type TakeDowns } from './take-downs.ts'
import { createWaysUp, type WaysUp } from './ways-up.ts'

export interface SharingPart {
  readonly access: AccessControl
  readonly folderPasswords: FolderPasswords
  readonly guestLinks: GuestLinks
  readonly linkAccess: LinkAccess
  readonly linkClaims: LinkClaims
  readonly linkContributors: LinkContributors
  readonly linkNames: LinkNames
  readonly links: Links
  readonly publicFolders: PublicFolders
  readonly reporting: Reporting
  readonly reports: Reports
  readonly takeDowns: TakeDowns
  readonly waysUp: WaysUp
  readonly jobs: readonly Job[]
}

export function createSharingPart(
  { config, db, rates, signing, clock, random, failed }: Core,
  mails: EndableMails,
  { removeGarbage }: Pick<FilesPart, 'removeGarbage'>,
): SharingPart {
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
      { name: 'forget old links', on: 'one node', every: HOUR, run: links.forgetOld },
    ],
  }
}
