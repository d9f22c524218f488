import { doneWithMessage } from '../../../src/contract/fields.ts'
import { type ListedUpload, uploadsAnswer } from '../../../src/contract/uploads.ts'
import { askServer, sending } from '../../shared/ask.ts'

/** Uploads of the account that are not finished, wherever they were begun. All throw RequestFailure. */

export async function fetchUnfinished(): Promise<readonly ListedUpload[]> {
  return (await askServer(uploadsAnswer, '/api/v1/uploads')).data
}

/** Gives it up, and what of it has arrived. */
export async function cancelUnfinishedUpload({ slug }: ListedUpload): Promise<void> {
  await askServer(doneWithMessage, '/api/v1/upload/cancel', sending('POST', { slug }))
}
