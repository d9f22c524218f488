import { RequestFailure } from './answers.ts'
import { ask } from './server.ts'

type Linked = { readonly receipts: readonly string[] } | { readonly files: readonly string[] }

interface LinkTerms {
  /** Empty for none. */
  readonly password: string
  /** 0 for no end. */
  readonly days: number
  readonly once: boolean
}

const DAY = 86_400_000

/** Makes one link to all of them; a guest's `receipt` revokes it. */
export async function makeLinkTo(
  linked: Linked,
  { password, days, once }: LinkTerms,
): Promise<{ readonly url: string; readonly receipt: string | null }> {
  const terms = {
    ...(password === '' ? {} : { password }),
    ...(days === 0 ? {} : { ends_at: new Date(Date.now() + days * DAY).toISOString() }),
    ...(once ? { max_downloads: 1 } : {}),
  }
  const { body } = await ask('receipts' in linked ? '/api/v1/receipts/link' : '/api/v1/links', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...linked, ...terms }),
  })
  const { data, receipt } = body
  const url = typeof data === 'object' && data !== null && 'url' in data ? data.url : null
  if (typeof url !== 'string') throw new RequestFailure(null)
  return { url, receipt: typeof receipt === 'string' ? receipt : null }
}
