import { type MadeTransfer, transferFields } from './answers.ts'
import { isAnswer } from './failure.ts'
import { type RemoteServer, readJsonAnswer, sendRequest } from './http.ts'
import { TRANSFER } from './policy/upload-policy.ts'
import type { Retries } from './retries.ts'
import { hashOf, type LocalUploadId, type UploadStates } from './upload-states.ts'

export interface WantedTransfer {
  readonly files: number
  readonly bytes: number
  readonly name?: string
  readonly message?: string
  readonly password?: string
  readonly ends_at?: string
  readonly max_downloads?: number
}

interface TransferNeeds {
  readonly server: RemoteServer
  readonly retries: Retries
  readonly states: UploadStates
}

/** Makes a transfer, or goes on with the one of an earlier run, which is told what comes now. */
export async function openTransfer(
  needs: TransferNeeds,
  id: LocalUploadId,
  wanted: WantedTransfer,
): Promise<MadeTransfer> {
  const state = await needs.states.read(id)
  const earlier = state?.kind === 'transfer' ? state : null
  if (earlier?.made && (await isAnnounced(needs, earlier.made, wanted))) return earlier.made
  // One whose answer never came may have been made.
  const seed = earlier?.made === null ? earlier.seed : crypto.randomUUID()
  await needs.states.write(id, { kind: 'transfer', seed, made: null }, false)
  const made = await make(needs, wanted, hashOf([seed, wanted]))
  await needs.states.write(id, { kind: 'transfer', seed, made }, true)
  return made
}

async function make(
  { server, retries }: TransferNeeds,
  wanted: WantedTransfer,
  idempotencyKey: string,
): Promise<MadeTransfer> {
  const { data, receipt = null } = await retries.persist(TRANSFER, async () =>
    readJsonAnswer(
      server,
      await sendRequest(server, {
        method: 'POST',
        path: '/api/v1/transfers',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
        body: JSON.stringify(wanted),
      }),
      transferFields,
    ),
  )
  return { ...data, receipt }
}

/** False for one that is gone. Its terms stay as the earlier run has set them. */
async function isAnnounced(
  { server, retries }: TransferNeeds,
  { slug, receipt }: MadeTransfer,
  { files, bytes }: WantedTransfer,
): Promise<boolean> {
  const path = receipt === null ? `/api/v1/links/${slug}` : `/api/v1/receipt/${encodeURIComponent(receipt)}`
  try {
    await retries.persist(TRANSFER, () =>
      sendRequest(server, {
        method: 'PATCH',
        path,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ files, bytes }),
      }),
    )
    return true
  } catch (error) {
    if (isAnswer(error, 404) || isAnswer(error, 410)) return false
    throw error
  }
}
