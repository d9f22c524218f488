import { ownAccount } from '../../shared/own-account.ts'
import { RequestFailure } from '../../uploads/answers.ts'
import { ask, deleteWithReceipt } from '../../uploads/server.ts'
import type { MadeTransfer } from './kept-transfer.ts'

/** The API of transfers. Every function throws RequestFailure. */

type Body = Readonly<Record<string, unknown>>

/** Sent again with the same key and body it answers the same transfer. */
export async function makeTransfer(key: string, body: Body): Promise<MadeTransfer> {
  const answer = await ask('/api/v1/transfers', json('POST', body, { 'Idempotency-Key': key }))
  const { data, receipt } = answer.body
  const { url, slug, folder }: Partial<Record<string, unknown>> =
    typeof data === 'object' && data !== null ? { ...data } : {}
  if (typeof url !== 'string' || typeof slug !== 'string' || typeof folder !== 'string') {
    throw new RequestFailure(null)
  }
  return { link: url, slug, folder, receipt: typeof receipt === 'string' ? receipt : null }
}

export async function changeTransfer(made: MadeTransfer, body: Body): Promise<void> {
  await ask(addressOf(made), json('PATCH', body))
}

/** A guest's is deleted with its files; an account's link is revoked, and its files stay. */
export async function endTransfer(made: MadeTransfer): Promise<void> {
  if (made.receipt !== null) await deleteWithReceipt(made.receipt)
  else await ask(addressOf(made), { method: 'DELETE', headers: ownAccount() })
}

function addressOf({ receipt, slug }: MadeTransfer): string {
  return receipt === null ? `/api/v1/links/${slug}` : `/api/v1/receipt/${encodeURIComponent(receipt)}`
}

function json(method: string, body: Body, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method,
    headers: { ...ownAccount(), 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}
