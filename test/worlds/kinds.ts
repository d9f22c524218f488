/** What callers do, the likelier the more often it stands here. */

import type { Action } from './actions.ts'
import * as things from './actions.ts'
import * as joined from './joined-actions.ts'
import * as links from './link-actions.ts'
import * as owners from './owner-actions.ts'
import { readFile } from './reading-actions.ts'
import * as resumable from './resumable-actions.ts'
import * as uploads from './upload-actions.ts'

const often = (times: number, name: string, action: Action): [string, Action][] =>
  Array.from({ length: times }, () => [name, action])

export const KINDS: readonly (readonly [name: string, action: Action])[] = [
  ...often(6, 'upload', uploads.upload),
  ...often(3, 'keyed upload', uploads.keyedUpload),
  ...often(3, 'begin a resumable upload', resumable.beginResumable),
  ...often(6, 'go on with a resumable upload', resumable.goOnResumable),
  ...often(2, 'contribute', uploads.contribute),
  ...often(2, 'create a folder', things.createFolder),
  ...often(1, 'move a folder', things.moveFolder),
  ...often(1, 'delete a folder', things.deleteFolder),
  ...often(3, 'move a file', things.moveFile),
  ...often(2, 'delete a file', things.deleteFile),
  ...often(1, 'bin a file', things.binFile),
  ...often(1, 'restore a file', things.restoreFile),
  ...often(3, 'make a link', links.makeLink),
  ...often(8, 'download by a link', links.download),
  ...often(1, 'make an upload link', links.makeUploadLink),
  ...often(2, 'send two parts', joined.sendParts),
  ...often(2, 'join parts', joined.join),
  ...often(1, 'bin a folder', joined.binFolder),
  ...often(1, 'restore a folder', joined.restoreFolder),
  ...often(3, 'read a file', readFile),
  ...often(3, 'claim by a receipt', owners.claim),
  ...often(1, 'delete by a receipt', owners.redeem),
  ...often(2, 'take a content down', owners.takeDown),
  ...often(1, 'revoke an upload link', owners.revokeUploadLink),
  ...often(1, 'delete an account', owners.leave),
  ...often(6, 'a job', things.runJob),
]
