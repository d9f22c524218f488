import type { Visitor } from '../clients/site-visitor.ts'
import { type ForgingServer, good } from './forging-oidc-server.ts'

/**
 * Signs in at the provider and returns, with `meanwhile` in between. Returns the site's redirect, or the code
 * of its refusal.
 */
export async function comeBy(
  other: ForgingServer,
  at: Visitor,
  start: string,
  claims: Record<string, unknown>,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<string | null> {
  const asked = new URL((await at.get(start)).headers.get('location') ?? '').searchParams
  other.expect(asked.get('nonce'))
  other.forge((usual) => good({ ...usual, ...claims }))
  await meanwhile()
  const answer = new URLSearchParams({ code: 'any', state: asked.get('state') ?? '' })
  const end = await at.get(`/sign-in/oauth2/callback/oidc?${answer}`, {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
  })
  return end.error ?? end.headers.get('location')
}
