import { doneWithMessage } from '../../../src/contract/fields.ts'
import { type ListedUpload, uploadsAnswer } from '../../../src/contract/uploads.ts'
import { fetchJson, jsonRequest } from '../../shared/fetch-json.ts'

/** All functions throw RequestFailure. */

export async function fetchUnfinished(): Promise<readonly ListedUpload[]> {
  return (await fetchJson(uploadsAnswer, '/api/v1/uploads')).data
}

/** Also deletes its bytes. */
export async function cancelUnfinishedUpload({ slug }: ListedUpload): Promise<void> {
  await fetchJson(doneWithMessage, '/api/v1/upload/cancel', jsonRequest('POST', { slug }))
}
