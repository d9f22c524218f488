/** Scopes of API keys. Each route declares the one that it requires. */
export const SCOPES = ['read', 'upload', 'manage'] as const

export type Scope = (typeof SCOPES)[number]

/** Parses scopes separated by spaces and returns them in canonical order; unknown words are ignored. */
export function parseScopes(text: string): readonly Scope[] {
  const words = text.split(' ')
  return SCOPES.filter((scope) => words.includes(scope))
}

export function formatScopes(scopes: readonly Scope[]): string {
  return SCOPES.filter((scope) => scopes.includes(scope)).join(' ')
}
