export const SCOPES = ['read', 'upload', 'manage'] as const

export type Scope = (typeof SCOPES)[number]

/** Separated by spaces; canonical order, unknown words ignored. */
export function parseScopes(text: string): readonly Scope[] {
  const words = text.split(' ')
  return SCOPES.filter((scope) => words.includes(scope))
}

export function formatScopes(scopes: readonly Scope[]): string {
  return SCOPES.filter((scope) => scopes.includes(scope)).join(' ')
}
