import { doneWithMessage } from '../../../src/contract/fields.ts'
import { type ListedUpload, uploadsAnswer } from '../../../src/contract/uploads.ts'
import { fetchJson, jsonRequest } from '../../shared/fetch-json.ts'

/** Uploads of the account that are not finished, wherever they were begun. All throw RequestFailure. */

export async function fetchUnfinished(): Promise<readonly ListedUpload[]> {
  return (await fetchJson(uploadsAnswer, '/api/v1/uploads')).data
}

/** Gives it up, and what of it has arrived. */
export async function cancelUnfinishedUpload({ slug }: ListedUpload): Promise<void> {
  await fetchJson(doneWithMessage, '/api/v1/upload/cancel', jsonRequest('POST', { slug }))
}
