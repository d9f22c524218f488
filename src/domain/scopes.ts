/** What an API key may be good for. Which route needs which is in the route's declaration. */
export const SCOPES = ['read', 'upload', 'manage'] as const

export type Scope = (typeof SCOPES)[number]

/** The scopes that a text names, with spaces between them, in their usual order. */
export function parseScopes(text: string): readonly Scope[] {
  const words = text.split(' ')
  return SCOPES.filter((scope) => words.includes(scope))
}

export function formatScopes(scopes: readonly Scope[]): string {
  return SCOPES.filter((scope) => scopes.includes(scope)).join(' ')
}
